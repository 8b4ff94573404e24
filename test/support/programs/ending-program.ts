/** Returns a stand-in for claude that replies when there is a file `go`; `ending` is what it does when it is asked to end. */
export function endingProgram(ending: string): string {
  return `#!/bin/sh
say() { echo '{"type":"result","subtype":"success","is_error":'$1',"result":"late","session_id":"s"}'; }
echo asked >> asked
trap '${ending}' TERM
while ! test -e go; do sleep 0.05; done
say false
`;
}
