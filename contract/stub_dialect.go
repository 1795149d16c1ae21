package contract

import "github.com/candor-mcp/candor"

func dialectVerdict(*Exchange) (Conclusion, bool) { return Conclusion{}, false }
func ownError(*Exchange) *candor.Error            { return nil }
