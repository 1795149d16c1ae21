package verify

// allPruned reports whether retention removed the remaining entries: the whole chain, or the part that existed when
// the scan began.
func (s *chainScan) allPruned() (bool, error) {
	if s.loose || !s.vouched() && len(s.claims) == 0 {
		return false, nil
	}
	gone, damage, err := s.newest()
	if damage != nil || err != nil {
		if damage != nil {
			s.adopt(damage)
		}
		return true, err
	}
	_, found, err := s.v.prunedAs(s.report.Chain, func(p pruning) bool { return p.size >= gone.size })
	if err != nil || !found {
		return false, err
	}
	s.seq, s.last, s.closed = gone.size, gone.last, true
	s.report.First, s.report.Pruned = gone.size+1, gone.size
	s.end()
	s.report.Root = ""
	return true, nil
}

// newest reads the remaining checkpoints when there are no more entries. It checks their signatures; there are no
// entries to compare them with.
func (s *chainScan) newest() (known claim, damage *Damage, err error) {
	for i, w := range s.witnesses {
		for {
			due, damage, err := w.look()
			if damage != nil || err != nil {
				return known, damage, err
			}
			if due == nil {
				break
			}
			if size := uint64(due.Size); size >= known.size { //nolint:gosec // it was read as a size
				known.size, known.last = size, due.Last
			}
			if i == 0 {
				s.covered = max(s.covered, known.size)
			}
			s.lost = due
			w.done()
		}
	}
	for _, c := range s.claims {
		if c.size > known.size {
			known = c
		}
	}
	return known, nil, nil
}
