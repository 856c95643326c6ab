package vfs

type shadowDir struct{}
type shadowFile struct{}
