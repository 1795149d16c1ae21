package notion

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/httpapi"
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
