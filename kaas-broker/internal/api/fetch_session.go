package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
)

// sessionRequest is what the session cache needs to know of a request. Clients below v7 know no sessions.
func sessionRequest(request *kmsg.FetchRequest) fetchsession.Request {
	session := fetchsession.Request{ID: request.SessionID, Epoch: request.SessionEpoch, ByID: request.Version >= fetchByID}
	if request.Version < fetchWithSessions {
		session.ID, session.Epoch = fetchsession.NoSession, -1
	}
	count := 0
	for t := range request.Topics {
		count += len(request.Topics[t].Partitions)
	}
	session.Wanted = make([]fetchsession.Wanted, 0, count)
	for t := range request.Topics {
		topic := &request.Topics[t]
		for i := range topic.Partitions {
			session.Wanted = append(session.Wanted, wantedOf(request.Version, topic, &topic.Partitions[i]))
		}
	}
	session.Wanted = eachOnce(session.Wanted)
	for _, topic := range request.ForgottenTopics {
		for _, partition := range topic.Partitions {
			session.Forgotten = append(session.Forgotten, fetchsession.Key{Topic: topic.Topic, TopicID: topic.TopicID, Partition: partition})
		}
	}
	return session
}

// fewWanted is how many partitions are compared with one another rather than put into a map, which costs an allocation.
const fewWanted = 16

// eachOnce keeps the last mention of each partition, in the place of its first, as Kafka does.
func eachOnce(wanted []fetchsession.Wanted) []fetchsession.Wanted {
	var places map[fetchsession.Key]int
	if len(wanted) > fewWanted {
		places = make(map[fetchsession.Key]int, len(wanted))
	}
	kept := wanted[:0]
	for i := range wanted {
		place, again := placeOf(kept, places, wanted[i].Key)
		if again {
			kept[place] = wanted[i]
			continue
		}
		if places != nil {
			places[wanted[i].Key] = len(kept)
		}
		kept = append(kept, wanted[i])
	}
	return kept
}

func placeOf(kept []fetchsession.Wanted, places map[fetchsession.Key]int, key fetchsession.Key) (place int, found bool) {
	if places != nil {
		place, found = places[key]
		return place, found
	}
	for i := range kept {
		if kept[i].Key == key {
			return i, true
		}
	}
	return 0, false
}

// wantedOf reads the epochs only in the versions that have them.
func wantedOf(version int16, topic *kmsg.FetchRequestTopic, partition *kmsg.FetchRequestTopicPartition) fetchsession.Wanted {
	wanted := fetchsession.Wanted{
		Key:         fetchsession.Key{Topic: topic.Topic, TopicID: topic.TopicID, Partition: partition.Partition},
		Offset:      partition.FetchOffset,
		MaxBytes:    partition.PartitionMaxBytes,
		LeaderEpoch: -1,
		LastEpoch:   -1,
	}
	if version >= fetchWithEpoch {
		wanted.LeaderEpoch = partition.CurrentLeaderEpoch
	}
	if version >= fetchWithLastEpoch {
		wanted.LastEpoch = partition.LastFetchedEpoch
	}
	return wanted
}
