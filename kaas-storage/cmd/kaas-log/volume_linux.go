package main

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// volumeKinds names file systems by the magic numbers of statfs(2).
var volumeKinds = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
	unix.NFS_SUPER_MAGIC: "nfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.FUSE_SUPER_MAGIC: "fuse", unix.CEPH_SUPER_MAGIC: "ceph",
	unix.SMB2_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "smb", unix.V9FS_MAGIC: "9p",
}

func describeVolume(path string, disk vfs.FS) string {
	kind := "of an unknown kind"
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err == nil {
		if name, known := volumeKinds[int64(uint32(stat.Type))]; known {
			kind = name
		}
	}
	usage, err := disk.Usage()
	if err != nil {
		return fmt.Sprintf("%s, %s", path, kind)
	}
	return fmt.Sprintf("%s, %s, %.1f GB free", path, kind, float64(usage.Free)/1e9)
}
