-- What the columns of the trace tables hold, where warehouse/records.py does not say it.
COMMENT ON COLUMN episodes.episode_id IS 'Derived from what was recorded or run';
COMMENT ON COLUMN episodes.build IS 'The build: the episodes between two checkpoints';
COMMENT ON COLUMN episodes.task_id IS 'The task of the suite; null for imported recordings outside it';
COMMENT ON COLUMN episodes.world IS 'The world it ran in';
COMMENT ON COLUMN episodes.world_seed IS 'Seed of the world';
COMMENT ON COLUMN episodes.agent IS 'The agent that was recorded';
COMMENT ON COLUMN episodes.planner IS 'The model that planned';
COMMENT ON COLUMN episodes.executor IS 'What turned subgoals into actions';
COMMENT ON COLUMN episodes.planner_seed IS 'Seed of the planner';
COMMENT ON COLUMN episodes.snapshot_id IS 'The frozen knowledge that it ran with; null for none';
COMMENT ON COLUMN episodes.observes IS 'What the source can see; what it cannot is unknown and not absent';
COMMENT ON COLUMN episodes.n_ticks IS 'Game ticks, 20 a second';
COMMENT ON COLUMN episodes.success_tick IS 'Game tick at which the oracle first held';
COMMENT ON COLUMN episodes.end_reason IS 'success, horizon, death, plan_exhausted, planning_failure, call_budget, recording_end or infrastructure';
COMMENT ON COLUMN episodes.config_hash IS 'Hash of the configuration of the run';
COMMENT ON COLUMN episodes.task_group IS 'The partition beside the build: a group of tasks, or imported';
COMMENT ON COLUMN episodes.source_name IS 'The import or batch of rollouts that brought it';

COMMENT ON COLUMN attempts.episode_id IS 'The episode';
COMMENT ON COLUMN attempts.attempt IS 'Position in the episode, from 0';
COMMENT ON COLUMN attempts.plan_id IS 'The plan that the subgoal is of';
COMMENT ON COLUMN attempts.subgoal_id IS 'The subgoal in its plan';
COMMENT ON COLUMN attempts.kind IS 'mine, craft, smelt, use, combat, move or wait';
COMMENT ON COLUMN attempts.executor_hint IS 'What the plan tells the executor beside the subgoal';
COMMENT ON COLUMN attempts.mode IS 'Mode of the executor';
COMMENT ON COLUMN attempts.checks IS 'What has to hold after it, in the domain''s check types';
COMMENT ON COLUMN attempts.start_tick IS 'First game tick';
COMMENT ON COLUMN attempts.end_tick IS 'Last game tick';
COMMENT ON COLUMN attempts.label_basis IS 'exact, or task_text where the label is of the task and not of this very attempt';
COMMENT ON COLUMN attempts.end_reason IS 'success, timeout, death, horizon, superseded, agent_stopped or infrastructure';
COMMENT ON COLUMN attempts.state_before IS 'The state before its first action; null inside where the source cannot see';
COMMENT ON COLUMN attempts.state_after IS 'The state after its last action';
COMMENT ON COLUMN attempts.knowledge_used IS 'Ids of the entries that it was planned with';

COMMENT ON COLUMN events.episode_id IS 'The episode';
COMMENT ON COLUMN events.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN events.tick IS 'Game ticks since the start of the episode';
COMMENT ON COLUMN events.kind IS 'chat, error, game, counter or action_result';
COMMENT ON COLUMN events.name IS 'The thing it names';
COMMENT ON COLUMN events.count IS 'How many of it, or how often';
COMMENT ON COLUMN events.signal IS 'What its words say, whatever their wording; null where they say nothing that is read';
COMMENT ON COLUMN events.items IS 'Things with amounts that it names';

COMMENT ON COLUMN sightings.episode_id IS 'The episode';
COMMENT ON COLUMN sightings.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN sightings.tick IS 'Game ticks since the start of the episode';
COMMENT ON COLUMN sightings.kind IS 'block, entity or station';
COMMENT ON COLUMN sightings.name IS 'What was seen';
COMMENT ON COLUMN sightings.in_reach IS 'Near enough to act on; null when gone from view';
COMMENT ON COLUMN sightings.visible IS 'In view from this tick on (true), or no longer (false)';

COMMENT ON COLUMN inventory_changes.episode_id IS 'The episode';
COMMENT ON COLUMN inventory_changes.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN inventory_changes.tick IS 'Game ticks since the start of the episode';
COMMENT ON COLUMN inventory_changes.seq IS 'Order of the changes within a tick and attempt';
COMMENT ON COLUMN inventory_changes.item IS 'The item';
COMMENT ON COLUMN inventory_changes.delta IS 'Change in number';
COMMENT ON COLUMN inventory_changes.count IS 'Held after it';

COMMENT ON COLUMN feedback.feedback_id IS 'Derived from episode and attempt';
COMMENT ON COLUMN feedback.episode_id IS 'The episode';
COMMENT ON COLUMN feedback.attempt IS 'The subgoal attempt in the episode, from 0';
COMMENT ON COLUMN feedback.delta_state IS 'Health, hunger and position before and after';
COMMENT ON COLUMN feedback.delta_inventory IS 'Net change of every item; null when the source does not see the inventory';
COMMENT ON COLUMN feedback.failure_type IS 'The first failure type that the evidence supports; NONE for a success';
COMMENT ON COLUMN feedback.failure_causes IS 'Every failure type that the evidence supports, by first tick';
COMMENT ON COLUMN feedback.failure_evidence IS 'Where in the recording failure_type was decided';
COMMENT ON COLUMN feedback.progress_move IS 'The share of p that comes from moving';
COMMENT ON COLUMN feedback.progress_inventory IS 'The share of p that comes from the inventory';
COMMENT ON COLUMN feedback.progress_goal IS 'The share of the goal that was reached';
COMMENT ON COLUMN feedback.stagnant IS 'Did not succeed and did not move on, walking in circles included; null when y is null';
COMMENT ON COLUMN feedback.loop_score IS 'How much the attempt repeats itself, 0-1';
COMMENT ON COLUMN feedback.window_failure_rate IS 'Share of failures in the last h attempts; null before there are h';
COMMENT ON COLUMN feedback.remedy_due IS 'A remedy is to be asked for after this attempt, eq. 5';
COMMENT ON COLUMN feedback.skill_due IS 'A skill is to be asked for after this attempt';

COMMENT ON COLUMN quarantine.reason IS 'Why';
COMMENT ON COLUMN quarantine.severity IS 'quarantined, or ignored for known side files';
COMMENT ON COLUMN quarantine.build IS 'The build of the import';
COMMENT ON COLUMN quarantine.task_group IS 'The partition beside the build';
COMMENT ON COLUMN quarantine.source_name IS 'The import';

COMMENT ON COLUMN data_quality.episode_id IS 'The episode';
COMMENT ON COLUMN data_quality.attempt IS 'The subgoal attempt; null when it is about the whole episode';
COMMENT ON COLUMN data_quality.tick IS 'Where it shows';
COMMENT ON COLUMN data_quality.finding IS 'What kind of contradiction';
COMMENT ON COLUMN data_quality.detail IS 'What is said where, in words';
