// Command kaas is the broker.
package main

func main() {}
