package zoo

import (
	"github.com/candor-mcp/candor"
)

// The only resource and the only prompt.
const (
	resourceURI = "zoo://records/alpha"
	promptName  = "describe"
)

// answerResources answers requests for resources and prompts.
func (c *call) answerResources(method string) answer {
	switch method {
	case "resources/list":
		return c.list("resources", `{"uri":"`+resourceURI+`","name":"alpha","mimeType":"text/plain"}`)
	case "resources/templates/list":
		return c.list("resourceTemplates", "")
	case "prompts/list":
		return c.list("prompts", `{"name":"`+promptName+`","description":"Describes the records."}`)
	case "resources/read":
		return c.readResource()
	case "prompts/get":
		if !c.message.Params().Path("name").Is(promptName) {
			return one(c.refuse(candor.New(candor.CodePromptNotFound, "", candor.WithOrigin(candor.PartyServer, false))))
		}
		return one(c.result(`{"messages":[{"role":"user","content":{"type":"text","text":"Describe the records."}}]}`))
	default:
		return c.unknownMethod()
	}
}

func (c *call) readResource() answer {
	uri, ok := c.message.Params().Path("uri").Str()
	switch {
	case !ok:
		return c.badParams("/uri", "The address of a resource is missing.")
	case uri == resourceURI:
		found := `"contents":[{"uri":"` + resourceURI + `","mimeType":"text/plain","text":"one\ntwo\nthree"}]}`
		if c.modern {
			return one(c.result(`{` + cacheable + found))
		}
		return one(c.result(`{` + found))
	case c.zoo.wide["resource-empty"]:
		return one(c.result(`{"contents":[]}`))
	case c.zoo.wide["retired-number"]:
		return one(c.rpcError("Resource not found", `"code":-32002,"data":{"uri":`+quote(uri)+`}`))
	case c.zoo.wide["resource-zero"]:
		return one(c.rpcError("There is no such resource.", `"code":0,"data":{"uri":`+quote(uri)+`}`))
	default:
		return one(c.rpcError("Resource not found", `"code":-32602,"data":{"uri":`+quote(uri)+`}`))
	}
}
