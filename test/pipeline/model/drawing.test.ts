import { describe, expect, it } from 'vitest';
import { parsePipeline } from '../../../grammar/parse-dot.js';
import { toGraphviz } from '../../../src/pipeline/render/to-graphviz.js';
import type { NodeState } from '../../../src/pipeline/render/node-state.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';
import { layout } from '../../../src/pipeline/render/layout.js';

const ferry = `digraph ferry {
    graph [goal="Bring the mail", human.note=x, rankdir=LR]
    node [fontname="Helvetica"]
    start [shape=Mdiamond]
    subgraph cluster_pier {
        label = "On the pier"
        load [label="Load \\"all\\" C:\\\\mail\\nfirst", timeout=90s, shape=parallelogram, tool_command="true"]
        ask  [shape=hexagon, human.default_choice=load, style="rounded", fillcolor="pink"]
    }
    exit [shape=Msquare]
    start -> load -> ask
    ask -> exit [label="[S] Sail", weight=-3]
    ask -> load [label="Again", condition="outcome=fail", loop_restart=true, color=red]
}`;

const draw = (text: string, states?: ReadonlyMap<string, NodeState>): string =>
  toGraphviz(parsePipeline(text), preparePipeline(text), states);

describe('the text for Graphviz', () => {
  const text = draw(ferry);

  it('leaves out what only mlld reads', () => {
    expect(text).not.toMatch(/timeout|tool_command|human|goal/);
    expect(text).not.toContain('-3');
  });

  it('passes on what only Graphviz reads', () => {
    expect(text).toContain('"rankdir"="LR"');
    expect(text).toContain('"fontname"="Helvetica"');
    expect(text).toContain('"color"="red"');
  });

  it('frames subgraphs under their labels', () => {
    expect(text).toMatch(/subgraph "cluster_pier" \{\s+label="On the pier";\s+"load";\s+"ask";\s+\}/);
  });

  it('shows conditions below the labels of edges', () => {
    expect(text).toContain('label="Again\\n[outcome=fail]"');
  });

  it('shows labels as they were meant, whatever Graphviz takes for an escape', () => {
    const lines = [String.raw`Load &quot;all&quot; C:\\mail`, 'first'].map((line) => `<B>${line}</B>`);
    expect(text).toContain(`label=<${lines.join('<BR/>')}<BR/><FONT POINT-SIZE="9" COLOR="#57606a">command</FONT>>`);
  });

  it('colours the nodes that a run visited and shows their states', () => {
    const states = new Map<string, NodeState>([
      ['load', { status: 'success', visits: 2 }],
      ['ask', { status: 'running', visits: 0 }],
    ]);
    const coloured = draw(ferry, states);
    expect(coloured).toMatch(/"load" \[label=.*command · success \(2 visits\)<.*class="on-the-pier kind-command state-success"/);
    expect(coloured).toMatch(/"load" \[.*fillcolor="#d7f0dc"\]/);
    expect(coloured).toMatch(/"ask" \[label=.*person · running<.*style="rounded,filled", fillcolor="#cfe5fb"\]/);
    expect(coloured).not.toContain('pink');
    expect(coloured).toMatch(/"exit" \[label=<<B>exit<\/B>>, class="kind-exit", shape="oval".*"fontname"="Helvetica"\]/);
  });

  it('gives each kind of node a form, a line and a word, and lets the author choose others', () => {
    expect(text).toMatch(/"ask" \[label=<<B>ask<\/B>.*person.*class="on-the-pier kind-person coloured".*"fillcolor"="pink"/);
    const own = draw('digraph g { start [shape=Mdiamond]; a [shape=cylinder, prompt=p]; exit [shape=Msquare]; start -> a -> exit }');
    expect(own).toMatch(/"a" \[.*>model<.*class="kind-model", shape="cylinder"/);
  });

  it('makes a gate that waits for a person stand out', () => {
    expect(draw(ferry, new Map([['ask', { status: 'waiting', visits: 0 }]]))).toMatch(
      /"ask" \[.*person · waits for an answer<.*state-waiting.*penwidth="4".*fillcolor="#ffdf7a"/,
    );
  });
});

describe('the picture', () => {
  it('is an SVG with a title for each node', async () => {
    const svg = await layout(draw(ferry));
    expect(svg).toMatch(/<svg [^]*<\/svg>/);
    for (const id of ['start', 'load', 'ask', 'exit']) expect(svg).toContain(`<title>${id}</title>`);
    expect(svg).toContain('C:\\mail');
  });

  it('reports what Graphviz did not understand', async () => {
    await expect(layout('digraph { a -> ')).rejects.toMatchObject({ code: 'GRAPH_NOT_DRAWN' });
  });

  it('ends with a reason when the layout takes too long', async () => {
    // Every node leads to three others: small to write, and far too much to lay out.
    const edges = Array.from({ length: 300 }, (_, i) => [7, 83, 149].map((step) => `n${i} -> n${(i * step + step) % 300};`).join(' '));
    const drawing = layout(`digraph { ${edges.join(' ')} }`, { limitMs: 1500 });
    await expect(drawing).rejects.toMatchObject({ code: 'GRAPH_TOO_DENSE', message: expect.stringContaining('longer than 1.5 s') });
  });

  it('ends with a reason when the layout fails', async () => {
    const depth = 3000;
    const open = Array.from({ length: depth }, (_, i) => `subgraph cluster_${i} {`).join(' ');
    await expect(layout(`digraph { ${open} a ${'}'.repeat(depth)} }`)).rejects.toMatchObject({ code: 'GRAPH_TOO_DENSE' });
  });

  it('is refused when Graphviz read only a part of it', async () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => `n${i}`);
    await expect(layout(`digraph { ${ids.join(' -> ')} }`)).rejects.toMatchObject({ code: 'GRAPH_NOT_DRAWN' });
  });
});
