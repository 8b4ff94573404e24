/**
 * Loads the client of the extension as VS Code does, calls `activate`, and prints when the server has answered. The API of VS Code is
 * replaced: what the client needs of it to start its server is here, everything else answers with itself.
 */
const Module = require('node:module');

const [, , client, command] = process.argv;

/** Is a class, a function, an empty list and an object with all members. */
const anything = new Proxy(function () {}, {
  get(target, name) {
    if (name === Symbol.iterator) return () => [][Symbol.iterator]();
    if (name === Symbol.toPrimitive) return () => '';
    if (name === 'then') return undefined;
    if (name === 'prototype') return target.prototype;
    return anything;
  },
  apply: () => anything,
  // A class of the client that extends one of the editor keeps its own methods.
  construct: (target, _, made) => (made === anything ? anything : Reflect.construct(target, [], made)),
});

const event = () => ({ dispose() {} });
const vscode = new Proxy(
  {
    version: '1.91.0',
    commands: new Proxy({ registerCommand: event }, { get: (own, name) => own[name] ?? anything }),
    env: new Proxy({ appName: 'fake', language: 'en' }, { get: (own, name) => own[name] ?? anything }),
    window: new Proxy(
      { showErrorMessage: async (message) => console.log(`error: ${message}`) },
      { get: (own, name) => own[name] ?? anything },
    ),
    workspace: new Proxy(
      {
        workspaceFolders: undefined,
        textDocuments: [],
        getConfiguration: () => ({ get: (name) => (name === 'path' ? command : undefined) }),
        onDidChangeConfiguration: event,
      },
      { get: (own, name) => (name in own ? own[name] : anything) },
    ),
  },
  { get: (own, name) => own[name] ?? anything },
);

const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

void (async () => {
  const { activate, deactivate } = require(client);
  await activate({ subscriptions: [] });
  console.log('started');
  await deactivate();
  process.exit(0);
})();
