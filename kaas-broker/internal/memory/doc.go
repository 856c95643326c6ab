// Package memory knows how much memory the process may use. It keeps no state.
package memory
