// What an application sees of the official everything server, step by step, printed as JSON. The steps know the server and an
// official client; they know nothing of Candor, so that what is printed directly and through a gateway can be compared.

// observe makes every step in order. kit hides how the two generations of the client differ: on(method, answer) answers requests
// of the server, hear(method, listener) listens to its notifications, call and request ask it.
export async function observe(client, transport, kit) {
    const asked = { 'roots/list': 0 };
    const heard = [];
    kit.on('roots/list', () => {
        asked['roots/list']++;
        return { roots: [{ uri: 'file:///somewhere/else', name: 'elsewhere' }] };
    });
    kit.on('sampling/createMessage', (request) => {
        asked.sampling = request.params;
        return { role: 'assistant', model: 'none', content: { type: 'text', text: 'forty-two' } };
    });
    kit.on('elicitation/create', (request) => {
        asked.elicitation = request.params;
        return { action: 'accept', content: { name: 'Ada', check: true } };
    });
    kit.hear('notifications/message', (notification) => heard.push(typeof notification.params.data));

    const seen = {};
    const step = async (name, act) => {
        try {
            seen[name] = { value: await act() };
        } catch (thrown) {
            seen[name] = { thrown: { code: thrown.code, message: String(thrown.message), data: thrown.data } };
        }
    };
    const call = (name, args, options) => kit.call({ name, arguments: args }, options);

    await step('initialize', async () => {
        await client.connect(transport);
        return {
            server: client.getServerVersion(),
            capabilities: client.getServerCapabilities(),
            instructions: client.getInstructions(),
        };
    });
    await step('ping', () => client.ping());
    // The server adds tools after it has heard what the client can do.
    await until(async () => (await client.listTools()).tools.some((tool) => tool.name === 'trigger-sampling-request'));
    await step('tools/list', () => client.listTools());

    await step('call', () => call('echo', { message: 'grüße, 世界 \u{1f30d}' }));
    await step('call with numbers', () => call('get-sum', { a: 1.5, b: 9007199254740991 }));
    await step('call with structured content', () => call('get-structured-content', { location: 'Chicago' }));
    await step('call with annotations', () => call('get-annotated-message', { messageType: 'error', includeImage: true }));
    await step('call with an image', () => call('get-tiny-image', {}));
    await step('call with links', () => call('get-resource-links', { count: 2 }));
    await step('call with a resource', () => call('get-resource-reference', { resourceType: 'Text', resourceId: 2 }));

    await step('progress', async () => {
        const steps = [];
        const result = await call('trigger-long-running-operation', { duration: 0.2, steps: 4 }, { onprogress: (p) => steps.push(p) });
        return { steps: steps.slice(0, 3), result }; // the client may drop what comes together with the result
    });
    await step('sampling', async () => {
        const result = await call('trigger-sampling-request', { prompt: 'the answer?', maxTokens: 7 });
        return { asked: asked.sampling, result };
    });
    await step('elicitation', async () => {
        const result = await call('trigger-elicitation-request', {});
        return { asked: asked.elicitation, result };
    });
    await step('elicitation by address', () => call('trigger-url-elicitation', { url: 'https://example.com/', message: 'look', elicitationId: 'e1', errorPath: true }));
    await step('roots', async () => {
        const result = await call('get-roots-list', {});
        return { asked: asked['roots/list'] > 0, result };
    });
    await step('cancellation', async () => {
        const stop = new AbortController();
        let begun = false;
        const onprogress = () => { begun = true; stop.abort('enough'); };
        const ended = await call('trigger-long-running-operation', { duration: 5, steps: 100 }, { signal: stop.signal, onprogress })
            .then((result) => ({ result }), () => 'cancelled');
        return { begun, ended };
    });
    await step('ping after cancellation', () => client.ping());

    await step('resources/list', () => client.listResources());
    await step('resources/templates/list', () => client.listResourceTemplates());
    await step('resources/read', () => client.readResource({ uri: 'demo://resource/dynamic/text/1' }));
    await step('resources/read, a blob', () => client.readResource({ uri: 'demo://resource/dynamic/blob/1' }).then((r) => r.contents.map((c) => ({ ...c, blob: typeof c.blob }))));
    await step('resources/read, unknown', () => client.readResource({ uri: 'demo://nowhere/1' }));
    await step('resources/subscribe', () => client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' }));
    await step('resources/unsubscribe', () => client.unsubscribeResource({ uri: 'demo://resource/dynamic/text/1' }));
    await step('prompts/list', () => client.listPrompts());
    await step('prompts/get', () => client.getPrompt({ name: 'args-prompt', arguments: { city: 'Ulm' } }));
    await step('prompts/get, unknown', () => client.getPrompt({ name: 'no-such-prompt' }));
    await step('completion', () => client.complete({ ref: { type: 'ref/prompt', name: 'completable-prompt' }, argument: { name: 'department', value: 'S' } }));
    await step('logging', async () => {
        await client.setLoggingLevel('debug');
        const result = await call('toggle-simulated-logging', {});
        await until(async () => heard.length > 0);
        return { result, heard: heard[0] };
    });

    await step('isError', () => call('get-resource-reference', { resourceType: 'Text', resourceId: -1 }));
    await step('unknown method', () => kit.request({ method: 'no/such/method', params: {} }));
    await step('bad arguments', () => call('get-sum', { a: 'one', b: 2 }));
    await step('unknown tool', () => call('get-summ', { a: 1, b: 2 }));
    await step('ping at the end', () => client.ping());
    await client.close();
    process.stdout.write(JSON.stringify(seen) + '\n');
    process.exit(0); // a transport may keep a timer
}

// until asks again and again for what comes soon; the one who started us bounds the whole.
async function until(condition) {
    while (!(await condition())) {
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

// capabilities are what the client offers: the server adds tools for each.
export const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } };

// door reads the command line: "http" and an address, or "stdio" and a command.
export function door() {
    const [kind, ...rest] = process.argv.slice(2);
    return { url: kind === 'http' ? new URL(rest[0]) : undefined, command: rest[0], args: rest.slice(1) };
}
