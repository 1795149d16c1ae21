// What an application sees of a server's failures, printed as JSON. The client is one of the official ones and is used as its
// own documentation says; nothing here knows about Candor except the name under which the error lies.
const key = 'dev.candor/error';

// look lists the tools, as applications do (it is how a client learns the output schemas), then makes each call. What a call names
// in echo is an argument that repeats what the latest structured result with such a member said.
export async function look(client, transport, calls) {
    await client.connect(transport);
    const { tools } = await client.listTools();
    const seen = [];
    const said = {};
    for (const { name, arguments: given, echo = [] } of calls) {
        const repeated = Object.fromEntries(echo.map((key) => [key, said[key]]));
        const sight = await outcome(client, { name, arguments: { ...given, ...repeated } });
        if (!sight.isError) {
            Object.assign(said, sight.structured);
        }
        seen.push(sight);
    }
    await client.close();
    process.stdout.write(JSON.stringify({ tools, calls: seen }) + '\n');
}

async function outcome(client, call) {
    try {
        const result = await client.callTool(call);
        return {
            tool: call.name,
            isError: result.isError === true,
            text: result.content[0]?.text ?? '',
            structured: result.structuredContent,
            error: result._meta?.[key],
            result,
        };
    } catch (thrown) {
        return {
            tool: call.name,
            thrown: { code: thrown.code, message: String(thrown.message) },
            error: thrown.data?.[key],
        };
    }
}

// The command line: the calls as JSON, then "http" and an address, or "stdio" and a command.
export function readArguments() {
    const [calls, door, ...rest] = process.argv.slice(2);
    return {
        calls: JSON.parse(calls),
        url: door === 'http' ? new URL(rest[0]) : undefined,
        command: rest[0],
        args: rest.slice(1),
    };
}
