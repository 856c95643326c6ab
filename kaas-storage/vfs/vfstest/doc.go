// Package vfstest holds the conformance tests that every file system behind
// package vfs passes.
package vfstest
