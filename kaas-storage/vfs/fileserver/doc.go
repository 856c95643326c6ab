// Package fileserver is a file server in memory with several clients, each of them a [vfs.FS]: what two brokers on one network file
// system see of each other, with everything that such a system may do and a local disk does not.
//
// A [Server] has clients (machines), a [Client] has processes. A process is the file system that one broker is given.
//
// What is modeled:
//
//   - Writes are visible to the writer's client at once, to others at once or, when [Policy.Delay] says so, at the next sync or close.
//   - [vfs.File.Sync] makes durable what its own client wrote. Another client's sync does not, whoever has read the data.
//   - [vfs.Dir.Sync] makes every entry of the directory durable, whoever made it.
//   - [Server.Crash] loses what is not durable, as the caller chooses. Files and directories that lost their last name are gone for every
//     handle (ESTALE); all other handles, those of claims too, go on. A client that still has what it wrote sends it again at its next sync. A client that
//     lost a directory entry is told at its next sync of that directory (EIO): a sync that succeeds is true.
//   - A client may answer names and attributes from a cache up to [CacheLifetime] old when [Policy.Stale] says so. Listings and checks of
//     claims ask the server; opening a file asks for its attributes (close-to-open), but reading through an old handle does not.
//   - Handles to what another client removed answer ESTALE; handles of the remover's own process go on with a removed file.
//   - A file that another process of the same client has open is not removed but renamed to ".nfs…", until that process closes it.
//
// What is not: a server that undoes an operation and whose client then reports a successful sync (NFS forbids it, and no program could be written for it),
// delegations, locks, space, and users.
package fileserver
