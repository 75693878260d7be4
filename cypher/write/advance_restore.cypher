// Go from one step of a restore to the next. outcome: ok | repeated (that step was taken before) | elsewhere (somebody
// else restores here at the same time). No row: there is no restore.
MATCH (r:Restoring {workspace: $workspace})
SET r.sha256 = r.sha256
WITH r, CASE WHEN r.sha256 <> $sha256 THEN 'elsewhere' WHEN r.done = $before THEN 'ok' WHEN r.done = $done THEN 'repeated'
             ELSE 'elsewhere' END AS outcome
FOREACH (ok IN CASE outcome WHEN 'ok' THEN [1] ELSE [] END | SET r.done = $done)
RETURN outcome
