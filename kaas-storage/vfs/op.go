package vfs

import "fmt"

// OpKind says which operation a hook is called for.
type OpKind uint8

// The operations, each named after the method that makes it.
const (
	OpUsage OpKind = iota + 1
	OpOpenDir
	OpMkdir
	OpRmdir
	OpRemove
	OpRename
	OpCreate
	OpOpen
	OpOpenWrite
	OpList
	OpStat
	OpSyncDir
	OpHold
	OpCheck
	OpParent
	OpReadAt
	OpWriteAt
	OpWriteVec
	OpExtend
	OpTruncate
	OpSync
	OpSize
	OpCloseDir
	OpCloseClaim
	OpCloseFile
)

var opNames = [...]string{
	OpUsage: "usage", OpOpenDir: "open directory", OpMkdir: "mkdir", OpRmdir: "rmdir",
	OpRemove: "remove", OpRename: "rename", OpCreate: "create", OpOpen: "open",
	OpOpenWrite: "open for writing", OpList: "list", OpStat: "stat", OpSyncDir: "sync directory", OpHold: "hold",
	OpCheck: "check", OpParent: "open parent", OpReadAt: "read", OpWriteAt: "write", OpWriteVec: "write vector",
	OpExtend: "extend", OpTruncate: "truncate", OpSync: "sync", OpSize: "size", OpCloseDir: "close directory",
	OpCloseClaim: "close claim", OpCloseFile: "close",
}

func (k OpKind) String() string {
	if int(k) < len(opNames) && opNames[k] != "" {
		return opNames[k]
	}
	return fmt.Sprintf("operation %d", uint8(k))
}

// Mutating reports whether the operation changes what a later reader, or a
// reader after a power cut, may find.
func (k OpKind) Mutating() bool {
	switch k {
	case OpMkdir, OpRmdir, OpRemove, OpRename, OpCreate, OpWriteAt, OpWriteVec, OpExtend, OpTruncate, OpSync, OpSyncDir:
		return true
	default:
		return false
	}
}

// Op describes one operation to a hook.
type Op struct {
	Kind OpKind
	// Path is the directory, relative to the file system's root. For
	// operations on opened files and claims it is the one they were opened from.
	Path string
	// Name is the entry within Path, empty for the directory itself. OpOpenDir
	// of the file system has the whole path in Path.
	Name string
	// NewName is the second name of OpRename.
	NewName string
	// Offset and Size are the range, in bytes, of reads and writes.
	Offset, Size int64
	// After is set when the operation has been carried out; Err is then its result.
	After bool
	Err   error
}

func (o Op) String() string {
	text := fmt.Sprintf("%s %s/%s", o.Kind, o.Path, o.Name)
	if o.Kind == OpRename {
		text += " to " + o.NewName
	}
	if o.Size != 0 || o.Offset != 0 {
		text += fmt.Sprintf(" [%d+%d]", o.Offset, o.Size)
	}
	if o.After {
		text += fmt.Sprintf(" = %v", o.Err)
	}
	return text
}
