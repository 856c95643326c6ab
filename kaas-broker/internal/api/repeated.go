package api

// repeated are the keys that a request names more than once.
func repeated[K comparable, E any](elements []E, key func(*E) K) map[K]bool {
	seen, twice := make(map[K]bool, len(elements)), map[K]bool{}
	for i := range elements {
		k := key(&elements[i])
		if seen[k] {
			twice[k] = true
		}
		seen[k] = true
	}
	return twice
}
