// Package hostile tries to break a broker: damaged requests of every kind, compression bombs, clients that are slow, many, greedy or gone, what they leave behind, odd
// settings, damaged files. Each test has a normal producer and consumer beside it that must notice nothing, measures the broker's memory against a
// stated bound, and counts its goroutines and descriptors before and after.
//
//	KAAS_HOSTILE  full runs the long form of every test: more seeds, more clients, longer; the short one is for every change
//	KAAS_SEED     the seed of what is random, as a failed test has printed it
package hostile
