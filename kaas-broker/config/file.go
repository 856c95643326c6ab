package config

import (
	"errors"
	"fmt"
	"slices"
)

// readFile reads the properties file into a layer. Repeated keys are warned of; the last one wins, as in Kafka.
func (s *settings) readFile(path string, named Origin, read func(string) ([]byte, error)) {
	data, err := read(path)
	if err != nil {
		s.reject(named, fmt.Errorf("read properties: %w", err))
		return
	}
	properties, err := ParseProperties(string(data))
	for _, problem := range lineErrors(err) {
		s.reject(Origin{Layer: LayerFile, Name: path, Line: problem.Line}, problem.Err)
	}
	var layer []setting
	for _, property := range properties {
		origin := Origin{Layer: LayerFile, Name: path, Line: property.Line}
		earlier := slices.IndexFunc(layer, func(other setting) bool { return other.key == property.Key })
		if earlier >= 0 {
			s.warn(origin, property.Key, fmt.Sprintf("replaces the value of line %d", layer[earlier].origin.Line))
			layer = slices.Delete(layer, earlier, earlier+1)
		}
		layer = append(layer, setting{property.Key, property.Value, origin})
	}
	s.add(layer)
}

// lineErrors takes apart the error of ParseProperties.
func lineErrors(err error) []*LineError {
	var one *LineError
	joined, several := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case several:
		var list []*LineError
		for _, part := range joined.Unwrap() {
			list = append(list, lineErrors(part)...)
		}
		return list
	case errors.As(err, &one):
		return []*LineError{one}
	default:
		return nil
	}
}
