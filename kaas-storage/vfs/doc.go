// Package vfs is the seam between the log engine and a file system.
package vfs
