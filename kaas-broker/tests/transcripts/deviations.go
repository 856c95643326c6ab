package transcripts

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Deviation is a difference that stays, of one or several exchanges.
type Deviation struct {
	Script string
	// Exchange is a pattern of titles in which * stands for any characters; it may end in a range of versions, as in "v3-v5".
	Exchange string
	// Field is a pattern of paths.
	Field       string
	Kafka, Kaas string
	Reason      string
	line        int
}

// readDeviations reads blocks of five lines:
//
//	script: exchange · API v3-v5
//	  path of the field
//	  kafka: what Apache Kafka answers
//	  kaas: what kaas answers
//	  because: why that stays
func readDeviations(path string) ([]Deviation, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var deviations []Deviation
	var block []string
	for number, line := range strings.Split(string(text)+"\n", "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case line != "":
			block = append(block, line)
		case len(block) > 0:
			deviation, err := parseDeviation(block)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, number, err)
			}
			deviation.line = number - len(block) + 1
			deviations = append(deviations, deviation)
			block = nil
		}
	}
	return deviations, nil
}

func parseDeviation(block []string) (Deviation, error) {
	if len(block) < 5 {
		return Deviation{}, fmt.Errorf("a deviation has at least five lines, not %d", len(block))
	}
	var d Deviation
	var ok [4]bool
	d.Script, d.Exchange, ok[0] = strings.Cut(block[0], ": ")
	d.Field = strings.TrimSpace(block[1])
	d.Kafka, ok[1] = strings.CutPrefix(strings.TrimSpace(block[2]), "kafka: ")
	d.Kaas, ok[2] = strings.CutPrefix(strings.TrimSpace(block[3]), "kaas: ")
	d.Reason, ok[3] = strings.CutPrefix(strings.TrimSpace(strings.Join(block[4:], " ")), "because: ")
	for i, fine := range ok {
		if !fine {
			return Deviation{}, fmt.Errorf("line %d of the deviation is not as it should be", i+1)
		}
	}
	return d, nil
}

var versionRange = regexp.MustCompile(` v(\d+)-v(\d+)$`)

// covers reports whether the deviation is about an exchange.
func (d Deviation) covers(title string) bool {
	found := versionRange.FindStringSubmatch(d.Exchange)
	if found == nil {
		return matches(d.Exchange, title)
	}
	at := strings.LastIndex(title, " v")
	version, err := strconv.Atoi(title[at+len(" v"):])
	first, _ := strconv.Atoi(found[1])
	last, _ := strconv.Atoi(found[2])
	return err == nil && first <= version && version <= last && matches(strings.TrimSuffix(d.Exchange, found[0]), title[:at])
}

// explains reports whether the deviation allows a difference.
func (d Deviation) explains(difference Difference) bool {
	return d.covers(difference.Exchange) && matches(d.Field, difference.Field) && d.Kafka == difference.Kafka && d.Kaas == difference.Kaas
}
