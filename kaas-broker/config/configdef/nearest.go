package configdef

import "strings"

// Nearest returns the name with the smallest edit distance to wanted, compared without regard to case and with
// underscores and hyphens read as dots. It returns "" when even the best shares too little to be what was meant: more
// than a third of its letters would have to change.
func Nearest(wanted string, names []string) string {
	wanted = fold(wanted)
	best, bestDistance := "", len(wanted)
	for _, name := range names {
		longer, shorter := max(len(wanted), len(name)), min(len(wanted), len(name))
		if (longer-shorter)*3 > longer {
			continue // the distance is no less than the difference; a name of a client may be long
		}
		distance := editDistance(wanted, fold(name))
		if distance < bestDistance {
			best, bestDistance = name, distance
		}
	}
	if bestDistance*3 > max(len(wanted), len(best)) {
		return ""
	}
	return best
}

func fold(name string) string {
	return strings.NewReplacer("_", ".", "-", ".").Replace(strings.ToLower(name))
}

// editDistance counts the letters to insert, remove or replace to get from one text to the other (Levenshtein).
func editDistance(from, to string) int {
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(from); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(to)]
}
