package configdef

// Type is the data type of a key; its numbers are the config types of DescribeConfigs v3 and later.
type Type int8

// The types of Kafka's ConfigDef. A key of an unknown type does not exist.
const (
	TypeBoolean  Type = 1
	TypeString   Type = 2
	TypeInt      Type = 3
	TypeShort    Type = 4
	TypeLong     Type = 5
	TypeDouble   Type = 6
	TypeList     Type = 7
	TypeClass    Type = 8
	TypePassword Type = 9
)

// String returns Kafka's name of the type, as its error messages spell it.
func (t Type) String() string {
	names := [...]string{"UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"}
	if t < 0 || int(t) >= len(names) {
		return names[0]
	}
	return names[t]
}

// Source says where a value comes from; its numbers are the config sources of DescribeConfigs v1 and later (KIP-226).
type Source int8

// The sources that DescribeConfigs can name.
const (
	SourceUnknown              Source = 0
	SourceDynamicTopic         Source = 1
	SourceDynamicBroker        Source = 2
	SourceDynamicDefaultBroker Source = 3
	SourceStaticBroker         Source = 4
	SourceDefault              Source = 5
)

// String returns the name that Kafka's tools print for the source.
func (s Source) String() string {
	names := [...]string{
		"UNKNOWN", "DYNAMIC_TOPIC_CONFIG", "DYNAMIC_BROKER_CONFIG",
		"DYNAMIC_DEFAULT_BROKER_CONFIG", "STATIC_BROKER_CONFIG", "DEFAULT_CONFIG",
	}
	if s < 0 || int(s) >= len(names) {
		return names[0]
	}
	return names[s]
}
