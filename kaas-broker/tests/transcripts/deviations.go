package transcripts

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Deviation is a way to differ that stays, of one or several exchanges, and why.
type Deviation struct {
	exchanges []*place
	fields    []*allowance
	reason    string
	line      int // where it begins
}

// place names exchanges of a script. The title is a pattern in which * stands for any characters; it may end in a range of versions, as in "v3-v5".
type place struct {
	script, title string
	used          bool
}

// allowance is a pattern of paths and what is there. The value of kaas is a pattern, too.
type allowance struct {
	field, kafka, kaas string
	used               bool
}

// readDeviations reads blocks of exchanges, what differs in them, and the reason:
//
//	script: exchange · API v3-v5
//	script: another exchange · API v3
//	  path of a field: what Apache Kafka answers => what kaas answers
//	  path of another field: what Apache Kafka answers => what kaas answers
//	  because: why that stays
func readDeviations(path string) ([]*Deviation, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var deviations []*Deviation
	deviation := &Deviation{}
	for number, line := range strings.Split(string(text)+"\n", "\n") {
		if line == "" && len(deviation.exchanges) > 0 {
			deviations, deviation = append(deviations, deviation), &Deviation{}
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := deviation.add(line, number+1); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number+1, err)
		}
	}
	for _, deviation := range deviations {
		if len(deviation.fields) == 0 || deviation.reason == "" {
			return nil, fmt.Errorf("%s:%d: a deviation needs a field and a reason", path, deviation.line)
		}
	}
	return deviations, nil
}

func (d *Deviation) add(line string, number int) error {
	content, indented := strings.CutPrefix(line, "  ")
	if !indented {
		script, title, found := strings.Cut(line, ": ")
		if !found {
			return errors.New("no script")
		}
		if d.line == 0 {
			d.line = number
		}
		d.exchanges = append(d.exchanges, &place{script: script, title: title})
		return nil
	}
	if reason, found := strings.CutPrefix(content, "because: "); found {
		d.reason = reason
		return nil
	}
	if d.reason != "" {
		d.reason += " " + strings.TrimSpace(content)
		return nil
	}
	field, values, found := strings.Cut(content, ": ")
	kafka, kaas, both := strings.Cut(values, " => ")
	if !found || !both {
		return errors.New("no field with two values")
	}
	d.fields = append(d.fields, &allowance{field: field, kafka: kafka, kaas: kaas})
	return nil
}

var versionRange = regexp.MustCompile(` v(\d+)-v(\d+)$`)

// covers reports whether the place names an exchange.
func (p *place) covers(script, title string) bool {
	if p.script != script {
		return false
	}
	found := versionRange.FindStringSubmatch(p.title)
	if found == nil {
		return matches(p.title, title)
	}
	at := strings.LastIndex(title, " v")
	version, err := strconv.Atoi(title[at+len(" v"):])
	first, _ := strconv.Atoi(found[1])
	last, _ := strconv.Atoi(found[2])
	return err == nil && first <= version && version <= last && matches(strings.TrimSuffix(p.title, found[0]), title[:at])
}

// covers reports whether the deviation is about an exchange.
func (d *Deviation) covers(script, title string) bool {
	for _, place := range d.exchanges {
		if place.covers(script, title) {
			return true
		}
	}
	return false
}

// explains reports whether the deviation allows a difference, and remembers that it was needed.
func (d *Deviation) explains(script string, difference Difference) bool {
	if !d.covers(script, difference.Exchange) {
		return false
	}
	for _, a := range d.fields {
		if matches(a.field, difference.Field) && a.kafka == difference.Kafka && matches(a.kaas, difference.Kaas) {
			a.used = true
			for _, place := range d.exchanges {
				place.used = place.used || place.covers(script, difference.Exchange)
			}
			return true
		}
	}
	return false
}

// unused lists what was never needed.
func (d *Deviation) unused() []string {
	var list []string
	for _, place := range d.exchanges {
		if !place.used {
			list = append(list, place.script+": "+place.title)
		}
	}
	for _, a := range d.fields {
		if !a.used {
			list = append(list, a.field+": "+a.kafka+" => "+a.kaas)
		}
	}
	return list
}
