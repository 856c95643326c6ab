package config

import "strconv"

// Layer is the rank of a source; a higher layer wins.
type Layer int

// The layers, lowest first.
const (
	LayerDefault Layer = iota
	LayerFile
	LayerEnvironment
	LayerFlag
)

// Origin is the place a setting was written at.
type Origin struct {
	Layer Layer
	// Name is the path of the file, the variable, or the flag with its hyphens.
	Name string
	// Line counts from 1 in a file and is 0 elsewhere.
	Line int
}

// String returns "flag --listeners", "command line", "variable KAAS_LISTENERS", "server.properties:12" or "default".
func (o Origin) String() string {
	switch o.Layer {
	case LayerFlag:
		if o.Name == "" {
			return "command line"
		}
		return "flag " + o.Name
	case LayerEnvironment:
		return "variable " + o.Name
	case LayerFile:
		if o.Line == 0 {
			return o.Name
		}
		return o.Name + ":" + strconv.Itoa(o.Line)
	default:
		return "default"
	}
}
