// Package coordinator coordinates consumer groups: it keeps their members and committed offsets in coordinator slots and answers what clients ask.
package coordinator
