/**
 * Builds the functions of offered calls from the sources in the store. Calls whose sources and captured variables are the same share their
 * functions.
 */
import path from 'node:path';
import { sha256 } from '../../../journal/canonical.js';
import type { Json } from '../../../journal/event.js';
import { isObject } from '../../../journal/json-object.js';
import type { JournalStore } from '../../../journal/store.js';
import { MlldError } from '../../errors.js';
import { hideLiterals } from '../../operation/secret-literals.js';
import { definitionOf, withParts, type KeyedDigest } from '../../operation/fingerprint.js';
import type { CapturedVariable, OfferedCall, OfferedSource } from '../../runtime/calls/offered-call.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import { Executable } from '../../runtime/definitions/executable.js';
import { isSecret, type SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import type { Module } from '../../runtime/module.js';
import { dataOf } from '../../values/value.js';
import type { World } from '../../world/world.js';
import { declareFunctions } from '../script/current-definitions.js';
import { parseScriptText } from '../script/open-script.js';
import type { RunOptions } from '../script/run-options.js';
import { Declined, isOfferedValue, openPayload, valueOfOffer } from './read-offer.js';
import { aboutCaptured } from '../ports/offers/sealed-offer.js';
import { sourceWorld } from './source-world.js';

/** Most runs need one or two. */
const KEPT_MAX = 20;

export interface FunctionPorts {
  readonly store: Pick<JournalStore, 'getBlob' | 'resolve' | 'knownSecrets'>;
  readonly world: World;
  readonly options: RunOptions;
  readonly keyed: KeyedDigest;
  readonly secrets: SecretRegistry;
}

export class OfferedFunctions {
  private readonly built = new Map<string, Promise<readonly Module[]>>();

  constructor(private readonly ports: FunctionPorts) {}

  /** Throws `Declined` where the function would not be the one of the offer. */
  async find(offer: OfferedCall): Promise<{ readonly executable: Executable; readonly main: Module }> {
    const modules = await this.modulesFor(offer);
    const wanted = this.absolute(offer.module);
    const found = modules
      .filter((module) => module.path === wanted)
      .map(({ scope }) => dataOf(scope.own(offer.fn)?.value))
      .find((data): data is Executable => data instanceof Executable);
    if (found === undefined) throw new Declined(`@${offer.fn} can't be made from the sources in the store`);
    const { fingerprint } = withParts(await this.defined(found), offer.guards ?? []);
    if (fingerprint !== offer.fingerprint)
      throw new Declined(`@${offer.fn} would be another function there: the parts that it is made of differ`);
    return { executable: found, main: modules[0] as Module };
  }

  private async defined(executable: Executable): Promise<Definition> {
    try {
      return await definitionOf(executable, this.ports.keyed, this.ports.secrets);
    } catch (error) {
      throw new Declined(`@${executable.name} uses a value that is known at the run only (${(error as Error).message})`);
    }
  }

  private modulesFor(offer: OfferedCall): Promise<readonly Module[]> {
    const id = sha256(JSON.stringify([offer.main, offer.sources, offer.captured]));
    const known = this.built.get(id);
    if (known) return known;
    const building = this.build(offer);
    building.catch(() => this.built.delete(id)); // a source may be readable later
    this.built.set(id, building);
    const [oldest] = this.built.keys();
    if (this.built.size > KEPT_MAX && oldest !== undefined) this.built.delete(oldest);
    return building;
  }

  private async build(offer: OfferedCall): Promise<readonly Module[]> {
    const { store, world, options, secrets } = this.ports;
    const texts = new Map<string, string>();
    for (const source of offer.sources) texts.set(this.absolute(source.path), await this.textOf(source));
    const captured = await openPayload(store, offer.captured, aboutCaptured(offer));
    if (!Array.isArray(captured) || !captured.every(isVariable)) throw new Declined('the variables that it captures are no list of values');
    const variables = captured as readonly unknown[] as readonly CapturedVariable[];
    const file = this.absolute(offer.main);
    const { script, module } = parsed(texts, file, options.workingDirectory);
    const bind = (each: Module): void => {
      for (const { module: name, name: variable, value } of variables) {
        if (this.absolute(name) !== each.path) continue;
        const bound = valueOfOffer(value, options.project.root);
        if (isSecret(bound)) secrets.add(bound);
        each.scope.define({ name: variable, kind: 'let', value: bound });
      }
    };
    bind(module);
    const modules = await declareFunctions({ script, module, options, world: sourceWorld(world, texts) });
    modules.slice(1).forEach(bind);
    return modules;
  }

  private async textOf({ path: name, blob, whole }: OfferedSource): Promise<string> {
    const { store } = this.ports;
    const opened = whole && (await openPayload(store, whole, name));
    if (typeof opened === 'string') {
      for (const literal of hideLiterals(opened)?.literals ?? []) this.ports.secrets.add(literal);
      return opened;
    }
    const content = await store.getBlob(blob);
    if (content === undefined) throw new Declined(`${name} is not in the store`);
    return Buffer.from(content).toString('utf8');
  }

  private absolute(name: string): string {
    return path.resolve(this.ports.options.project.root, name);
  }
}

function isVariable(each: Json): boolean {
  return isObject(each) && typeof each['module'] === 'string' && typeof each['name'] === 'string' && isOfferedValue(each['value']);
}

function parsed(texts: ReadonlyMap<string, string>, file: string, workingDirectory: string): ReturnType<typeof parseScriptText> {
  const text = texts.get(file);
  if (text === undefined) throw new Declined('its script is not in the store');
  try {
    return parseScriptText(text, { path: file, mode: undefined, workingDirectory });
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    throw new Declined(`the script can't be read by this version of mlld (${error.message})`);
  }
}
