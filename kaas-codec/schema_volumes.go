package codec

// Requests about the log directories of a broker.

var alterReplicaLogDirsSchema = []field{
	{name: "Dirs", kind: list, of: []field{
		{name: "Path", kind: text},
		{name: "Topics", kind: list, of: []field{
			{name: "Name", kind: text},
			{name: "Partitions", kind: values, of: []field{{kind: int32Field}}},
		}},
	}},
}

var describeLogDirsSchema = []field{
	{name: "Topics", kind: list, null: true, of: []field{
		{name: "Topic", kind: text},
		{name: "Partitions", kind: values, of: []field{{kind: int32Field}}},
	}},
}
