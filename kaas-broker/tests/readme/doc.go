// Package readme holds the test that runs the commands of README.md on a clean clone and compares what they print.
package readme
