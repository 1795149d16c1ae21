package everywhere

import "os"

func helper() { _ = os.Chdir("a") }
