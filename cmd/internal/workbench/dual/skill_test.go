package dual_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSkillsAreReadFromTheFolder checks that manifests are read again for each call, and that an unusable file is
// named.
func TestSkillsAreReadFromTheFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := filepath.Join(filepath.Dir(p.state), "skills")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("deploy.yaml", "name: deploy\nversion: \"1\"\ndescription: Deploy it.\ntags: [ops]\n")
	s := p.start("--skills", dir)
	if a := s.call("skill_list", args{}).fine(); a.number("count") != 4 || a.value("unusable").Len() != 0 {
		t.Errorf("%s", a.value().Raw())
	}
	write("broken.yaml", "name: [")
	if a := s.call("skill_list", args{"tag": "ops"}).fine(); a.number("count") != 1 || a.data("skills", 0, "source") != "deploy.yaml" || a.data("unusable", 0, "file") != "broken.yaml" {
		t.Errorf("%s", a.value().Raw())
	}
	if a := s.call("skill_list", args{"query": "merkle"}).fine(); a.number("total") != 4 {
		t.Errorf("%s", a.value().Raw())
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.call("skill_list", args{}).isA("HANDLER_ERROR")
}
