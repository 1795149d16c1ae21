package meter

// ParseSample parses the form of a setting.
var ParseSample = parseSample

// SetSeed makes the random positions of Sample.Every reproducible.
func (m *Meter) SetSeed(seed uint64) {
	m.sampler.(*stride).seed = seed //nolint:errcheck // a test that uses another sampler should panic
}

// SetClock replaces the clock of the token buckets, which counts nanoseconds.
func (m *Meter) SetClock(now func() int64) {
	m.sampler.(*buckets).clock = now //nolint:errcheck // as above
}
