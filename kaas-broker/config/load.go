package config

import (
	"errors"
	"os"
)

// ErrHelp and ErrVersion end Load without a Config when --help or --version was asked for.
var (
	ErrHelp    = errors.New("help asked for")
	ErrVersion = errors.New("version asked for")
)

// Input is what Load reads. The zero value gives the defaults: dev mode on 127.0.0.1:9092.
type Input struct {
	// Args are the command line arguments without the program's name.
	Args []string
	// Environ has the form of os.Environ.
	Environ []string
	// ReadFile reads the properties file; nil is os.ReadFile.
	ReadFile func(path string) ([]byte, error)
	// Hostname names this machine for listeners that bind all addresses; nil is os.Hostname.
	Hostname func() (string, error)
}

// Load reads all sources and checks everything. The error is ErrHelp, ErrVersion, or a *ProblemsError with every
// problem found.
func Load(in Input) (*Config, error) {
	if in.ReadFile == nil {
		in.ReadFile = os.ReadFile
	}
	if in.Hostname == nil {
		in.Hostname = os.Hostname
	}
	arguments, err := parseArguments(in.Args)
	if err != nil {
		return nil, err
	}
	variables := parseEnvironment(in.Environ)
	all := newSettings()
	if path, named := propertiesFile(arguments, variables); path != "" {
		all.readFile(path, named, in.ReadFile)
	}
	all.add(variables.settings)
	all.add(arguments.settings)
	all.problems = append(append(all.problems, variables.problems...), arguments.problems...)
	all.warnings = append(all.warnings, variables.warnings...)

	b := &builder{settings: all, in: in, values: Values{given: all.parse()}}
	config := b.build()
	if err := all.err(); err != nil {
		return nil, err
	}
	b.show(config)
	config.Values, config.Warnings = b.values, all.warnings
	return config, nil
}

// propertiesFile returns the file to read and who named it.
func propertiesFile(a arguments, e environment) (string, Origin) {
	if a.file != "" {
		return a.file, Origin{Layer: LayerFlag, Name: "--config"}
	}
	return e.file, Origin{Layer: LayerEnvironment, Name: fileVariable}
}
