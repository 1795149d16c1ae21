package dual

import (
	"context"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/skills"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

type skillArgs struct {
	Tag   string `json:"tag"`
	Query string `json:"query"`
}

func (s *System) skillList() workbench.Tool {
	return workbench.Tool{
		Name: "skill_list", Title: "List skills",
		About: "List what can be done with this server, step by step. Files of the skill folder that cannot be used are listed with the reason.",
		Input: `{"tag":{"type":"string","minLength":1,"maxLength":64,"description":"Only skills with this tag."},
"query":{"type":"string","minLength":1,"maxLength":200,"description":"Only skills whose name or description has this text."}}`,
		ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.HandlerError},
		Run: handle(func(_ context.Context, _ *workbench.Call, in skillArgs) (any, error) {
			all, unusable, err := skills.Read(s.skills)
			if err != nil {
				return nil, candor.New(dualcode.HandlerError, "The folder of skills cannot be read.", candor.WithCause(err))
			}
			total := len(all)
			all = slices.DeleteFunc(all, func(skill skills.Skill) bool { return !in.matches(&skill) })
			return map[string]any{"skills": all, "count": len(all), "total": total,
				"unusable": unusable[:min(len(unusable), skills.MaxUnusable)], "unusable_count": len(unusable)}, nil
		}),
	}
}

func (in *skillArgs) matches(s *skills.Skill) bool {
	if in.Tag != "" && !slices.Contains(s.Tags, in.Tag) {
		return false
	}
	return in.Query == "" || strings.Contains(strings.ToLower(s.Name+"\n"+s.Description), strings.ToLower(in.Query))
}
