package configdef

// Definition is one key.
type Definition struct {
	Name string
	Type Type
	// Default is the text of the default value; NoDefault means null.
	Default string
	// NoDefault is true for a key whose default is null.
	NoDefault bool
	// Check refuses parsed values outside the valid ones; nil accepts every value of the type.
	Check Check
	// Doc explains the key in one or two sentences.
	Doc string
}

// Sensitive reports whether the key's value is a secret, which DescribeConfigs answers with null.
func (d Definition) Sensitive() bool { return d.Type == TypePassword }

// Parse reads a value the way Kafka's ConfigDef does: blanks around it are dropped, booleans match in any case, lists
// split at commas. The error is a *ValueError.
func (d Definition) Parse(raw string) (Value, error) {
	value, reason := parse(d.Type, raw)
	if reason != "" {
		return Value{}, &ValueError{Name: d.Name, Value: raw, Reason: reason}
	}
	if d.Check == nil {
		return value, nil
	}
	if offending, reason := d.Check(d.Name, value); reason != "" {
		return Value{}, &ValueError{Name: d.Name, Value: offending, Reason: reason}
	}
	return value, nil
}

// Entry is one key of a DescribeConfigs answer.
type Entry struct {
	Name string
	// Value is nil for null and for secrets.
	Value     *string
	Source    Source
	Type      Type
	ReadOnly  bool
	Sensitive bool
	// Synonyms are all places the value could come from, the winner first (KIP-226). Empty when there is none.
	Synonyms []Synonym
	Doc      string
}

// Synonym is one place a value could come from.
type Synonym struct {
	Name   string
	Value  *string
	Source Source
}
