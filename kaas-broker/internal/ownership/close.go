package ownership

// Close abandons every partition, writing nothing, and waits for the takeovers under way: for a broker that was fenced or cannot go on. After Shutdown
// it does nothing.
func (m *Manager) Close() {
	for _, p := range m.endAll() {
		p.Abandon()
	}
	m.stop()
	m.work.Wait()
}
