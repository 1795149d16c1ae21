package skills

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadReplacesAndReports(t *testing.T) {
	own, unusable, err := Read(nil)
	if err != nil || len(own) != 3 || len(unusable) != 0 {
		t.Fatal(own, unusable, err)
	}
	all, unusable, err := Read(fstest.MapFS{
		"vote.json":    {Data: []byte(`{"name":"vote","version":"2","description":"Another one."}`)},
		"broken.yaml":  {Data: []byte("name: [")},
		"unknown.yaml": {Data: []byte("name: x\nversion: 1\ndescription: d\nshell: rm\n")},
		"zwice.yaml":   {Data: []byte("name: vote\nversion: \"3\"\ndescription: d\n")},
		"large.yaml":   {Data: []byte("name: " + strings.Repeat("x", MaxBytes))},
		"notes.txt":    {Data: []byte("not a manifest")},
		"sub/a.yaml":   {Data: []byte("name: deep")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[2].Name != "vote" || all[2].Version != "2" || all[2].Source != "vote.json" {
		t.Errorf("%+v", all)
	}
	if len(unusable) != 4 {
		t.Errorf("%+v", unusable)
	}
	for _, u := range unusable {
		if u.Error == "" || strings.Contains(u.Error, "\n") || len(u.Error) > 300 {
			t.Errorf("%+v", u)
		}
	}
}
