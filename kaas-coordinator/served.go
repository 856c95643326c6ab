package coordinator

// Served returns how many slots are served here, of slot.Count: led, and replayed.
func (c *Coordinator) Served() int { return len(c.all()) }
