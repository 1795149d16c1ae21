package zoo

// Defect is one thing that is wrong with a server, and where to see it.
type Defect struct {
	ID    string   `json:"id"` // as in masked-text
	Title string   `json:"title"`
	About string   `json:"about"`          // what is seen on the wire
	Tool  string   `json:"tool,omitempty"` // that shows it; "" for the server as a whole
	Cases []string `json:"cases"`          // of probe, that bring it out
	Rule  string   `json:"rule"`           // of probe, that must find it
	Also  []string `json:"also,omitempty"` // rules that cannot but find it, too
}

// Defects returns all defects. The caller owns the slice.
func Defects() []Defect { return nil }

// Personality is a set of defects with a name.
type Personality struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`
	Defects []string `json:"defects"` // ids
}

// Personalities returns all personalities. The caller owns the slice.
func Personalities() []Personality { return nil }
