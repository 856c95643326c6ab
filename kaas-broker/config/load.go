package config

import "errors"

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
	return nil, errors.New("not built yet")
}
