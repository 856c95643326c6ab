// Package configdef describes configuration keys the way Kafka's ConfigDef does: a name, a type, a default and a
// check, and from them the parsing of values, the messages of refused values, and the entries of DescribeConfigs.
//
// It knows no key. The broker keys are in package config, the topic keys in internal/topicconfig. Everything here
// is a plain value, safe for concurrent use.
package configdef
