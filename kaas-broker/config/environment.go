package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kaas-rs/kaas/kaas-broker/config/configdef"
)

const variablePrefix = "KAAS_"

// variableAliases are variables whose name does not follow from their key's.
var variableAliases = map[string]string{
	"KAAS_FLUSH_INTERVAL_MESSAGES": "log.flush.interval.messages",
}

// fileVariable names the properties file, as --config does.
const fileVariable = "KAAS_CONFIG"

// serviceVariable matches what Kubernetes puts into every pod beside a service whose name begins with kaas.
var serviceVariable = regexp.MustCompile(`_(SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP)(_[A-Z]+)?)?)$`)

// Variable returns the environment variable of a key: KAAS_ and the key in capitals with underscores. A leading
// "kaas." is left out.
func Variable(key string) string {
	name := strings.TrimPrefix(key, "kaas.")
	return variablePrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}

// environment is what the variables say, understood.
type environment struct {
	settings []setting
	file     string
	problems []Problem
	warnings []Warning
}

// parseEnvironment reads the variables; an empty one counts as not set.
func parseEnvironment(environ []string) environment {
	keyOf := variableKeys()
	var out environment
	variables := slices.Clone(environ)
	slices.Sort(variables)
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		if value == "" {
			continue
		}
		if name == fileVariable {
			out.file = value
			continue
		}
		if key, ok := keyOf[name]; ok {
			out.add(setting{key, value, Origin{Layer: LayerEnvironment, Name: name}})
			continue
		}
		out.other(name, value, keyOf)
	}
	return out
}

// variableKeys maps every variable to its key.
func variableKeys() map[string]string {
	keyOf := map[string]string{}
	for _, key := range slices.Concat(Keys(), ownKeys) {
		keyOf[Variable(key.Name)] = key.Name
	}
	for alias, key := range variableAliases {
		keyOf[alias] = key
	}
	return keyOf
}

// add refuses two variables that say different things about one key.
func (e *environment) add(given setting) {
	for _, other := range e.settings {
		if other.key == given.key && other.raw != given.raw {
			e.reject(given.origin.Name, fmt.Errorf("%w: %s sets %s too", ErrConflict, other.origin.Name, given.key))
		}
	}
	e.settings = append(e.settings, given)
}

// other deals with variables that stand for no key. What asks for protection that this broker does not give is refused:
// starting without it would be worse than not starting.
func (e *environment) other(name, value string, keyOf map[string]string) {
	switch {
	case name == "MY_POD_NAME":
		e.reject(name, fmt.Errorf("%w: it asks for a cluster of several brokers", ErrNotServed))
	case name == "KAAS_REQUIRE_SASL" && strings.EqualFold(value, "true"):
		e.reject(name, fmt.Errorf("%w: clients cannot be made to authenticate", ErrNotServed))
	case name == "KAAS_AUTHORIZATION_TYPE":
		e.reject(name, fmt.Errorf("%w: requests are not authorized", ErrNotServed))
	case slices.Contains(silentVariables, name) || !strings.HasPrefix(name, variablePrefix) || serviceVariable.MatchString(name):
	case slices.Contains(idleVariables, name):
		e.warn(name, "has no effect in this version")
	default:
		names := make([]string, 0, len(keyOf))
		for known := range keyOf {
			names = append(names, known)
		}
		slices.Sort(names)
		message := "is no variable of kaas and is ignored"
		if nearest := configdef.Nearest(name, names); nearest != "" {
			message += " (did you mean " + nearest + "?)"
		}
		e.warn(name, message)
	}
}

// silentVariables say what holds anyway.
var silentVariables = []string{"KAAS_AUTH_DISABLED", "KAAS_REQUIRE_SASL"}

// idleVariables belong to parts that this version does not have.
var idleVariables = []string{"KAAS_NAMESPACE", "KAAS_METRIC_EXPORT_INTERVAL", "KAAS_SUPER_USERS"}

func (e *environment) reject(name string, err error) {
	e.problems = append(e.problems, Problem{Origin{Layer: LayerEnvironment, Name: name}, err})
}

func (e *environment) warn(name, message string) {
	e.warnings = append(e.warnings, Warning{Origin{Layer: LayerEnvironment, Name: name}, name, message})
}
