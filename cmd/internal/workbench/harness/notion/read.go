package notion

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
	"github.com/candor-mcp/candor/codes/common"
)

type pageParams struct {
	ID string `json:"id"`
	paging
}

type pageResult struct {
	Page       entry    `json:"page"`
	Text       []string `json:"text"` // one line for each block
	NextCursor string   `json:"nextCursor,omitempty"`
}

func (n *notion) page(ctx context.Context, in pageParams) (any, error) {
	if err := n.checkID("id", in.ID); err != nil {
		return nil, err
	}
	var o object
	if err := n.do(ctx, httpapi.Request{Path: []string{"pages", in.ID}}, &o); err != nil {
		return nil, err
	}
	if o.Object != "page" || o.ID == "" {
		return nil, n.Malformed("page")
	}
	query := url.Values{}
	for name, value := range in.body() {
		query.Set(name, fmt.Sprint(value))
	}
	var blocks list
	if err := n.do(ctx, httpapi.Request{Path: []string{"blocks", in.ID, "children"}, Query: query}, &blocks); err != nil {
		return nil, err
	}
	if blocks.Results == nil {
		return nil, n.Malformed("blocks")
	}
	result := pageResult{
		Page: entry{o.Object, o.ID, o.name(), o.URL, o.LastEdited, o.Properties}, Text: []string{}, NextCursor: blocks.next(),
	}
	for _, raw := range blocks.Results {
		if text := blockText(raw); text != "" {
			result.Text = append(result.Text, text)
		}
	}
	return result, nil
}

// blockText returns the text of a block, "" if it has none. The content of a block is in the member named after its
// type.
func blockText(raw json.RawMessage) string {
	var members map[string]json.RawMessage
	var kind string
	if json.Unmarshal(raw, &members) != nil || json.Unmarshal(members["type"], &kind) != nil {
		return ""
	}
	var content struct {
		RichText []richText `json:"rich_text"`
	}
	if json.Unmarshal(members[kind], &content) != nil {
		return ""
	}
	return plain(content.RichText)
}

type queryParams struct {
	DatabaseID   string            `json:"databaseId"`
	DataSourceID string            `json:"dataSourceId"`
	Filter       json.RawMessage   `json:"filter"`
	Sorts        []json.RawMessage `json:"sorts"`
	paging
}

func (n *notion) query(ctx context.Context, in queryParams) (any, error) {
	if (in.DatabaseID == "") == (in.DataSourceID == "") {
		return nil, n.Invalid("give either databaseId or dataSourceId")
	}
	source := in.DataSourceID
	if in.DatabaseID != "" {
		if err := n.checkID("databaseId", in.DatabaseID); err != nil {
			return nil, err
		}
		var err error
		if source, err = n.dataSource(ctx, in.DatabaseID); err != nil {
			return nil, err
		}
	} else if err := n.checkID("dataSourceId", source); err != nil {
		return nil, err
	}
	body := in.body()
	if len(in.Filter) > 0 {
		body["filter"] = in.Filter
	}
	if len(in.Sorts) > 0 {
		body["sorts"] = in.Sorts
	}
	var answer list
	if err := n.do(ctx, httpapi.Request{Path: []string{"data_sources", source, "query"}, Body: body}, &answer); err != nil {
		return nil, err
	}
	return n.listed(answer, true)
}

// dataSource returns the only data source of a database.
func (n *notion) dataSource(ctx context.Context, database string) (string, error) {
	var answer struct {
		Sources []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"data_sources"`
	}
	if err := n.do(ctx, httpapi.Request{Path: []string{"databases", database}}, &answer); err != nil {
		return "", err
	}
	if len(answer.Sources) == 0 || !uuid.MatchString(answer.Sources[0].ID) {
		return "", n.Malformed("data sources")
	}
	if len(answer.Sources) > 1 {
		details := fmt.Sprintf("the database has %d data sources; give the dataSourceId of one:", len(answer.Sources))
		for _, s := range answer.Sources[:min(len(answer.Sources), 5)] {
			details += fmt.Sprintf(" %s (%s)", s.ID, s.Name)
		}
		return "", domain.Fail(common.InvalidParams, details, nil)
	}
	return answer.Sources[0].ID, nil
}
