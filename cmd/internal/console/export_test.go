package console

import "time"

// Routes returns the registered methods and patterns.
func (s *Server) Routes() (list [][2]string) {
	for _, r := range s.routes {
		list = append(list, [2]string{r.method, r.pattern})
	}
	return list
}

// MaxStreams is the number of live feeds.
const MaxStreams = maxStreams

// SetFeedTimeout sets the time to write to a live feed. It is called before the first request.
func (s *Server) SetFeedTimeout(d time.Duration) { s.feedTimeout = d }
