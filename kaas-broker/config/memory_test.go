package config_test

import "testing"

// Where records are kept in memory, what is said about segments is what holds.
func TestSegmentsInMemory(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"in memory":              {nil, "16777216"},
		"in memory, set larger":  {[]string{"--override", "log.segment.bytes=104857600"}, "16777216"},
		"in memory, set smaller": {[]string{"--override", "log.segment.bytes=1048576"}, "1048576"},
		"with a directory":       {[]string{"--data-dir", "data"}, "1073741824"},
		"with a directory, set":  {[]string{"--data-dir", "data", "--override", "log.segment.bytes=104857600"}, "104857600"},
		"with log.dirs":          {[]string{"--override", "log.dirs=data"}, "1073741824"},
	} {
		t.Run(name, func(t *testing.T) {
			value, _ := load(t, test.args, nil, "").Values.Lookup("log.segment.bytes")
			if value.Text() != test.want {
				t.Errorf("log.segment.bytes is %s, want %s", value.Text(), test.want)
			}
		})
	}
}
