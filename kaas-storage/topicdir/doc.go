// Package topicdir lays out the directories of topics on a volume.
package topicdir
