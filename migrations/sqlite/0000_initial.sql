CREATE TABLE `changes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	`change` text NOT NULL,
	`observed_from` TIMESTAMP,
	`observed_at` TIMESTAMP NOT NULL,
	`before` text,
	`after` text,
	`fields` text NOT NULL,
	`origin` text NOT NULL,
	`run_id` BIGINT
);
--> statement-breakpoint
CREATE INDEX `changes_by_kind_record_id_observed_at_seq` ON `changes` (`kind`,`record_id`,`observed_at`,`seq`);--> statement-breakpoint
CREATE TABLE `deletions` (
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	`state` text NOT NULL,
	`sweep` BIGINT NOT NULL,
	`absent_since` TIMESTAMP NOT NULL,
	`last_seen_at` TIMESTAMP,
	`struck_at` TIMESTAMP,
	`proof` text,
	`concluded_at` TIMESTAMP,
	`certified` BIGINT DEFAULT 1 NOT NULL,
	PRIMARY KEY(`kind`, `record_id`)
);
--> statement-breakpoint
CREATE TABLE `dictionary` (
	`view` text NOT NULL,
	`column` text NOT NULL,
	`type` text NOT NULL,
	`unit` text,
	`meaning` text NOT NULL,
	`section` text,
	`label_en` text NOT NULL,
	`label_fr` text NOT NULL,
	PRIMARY KEY(`view`, `column`)
);
--> statement-breakpoint
CREATE TABLE `drift` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`code` text NOT NULL,
	`field` text,
	`detail` text NOT NULL,
	`seen_at` TIMESTAMP NOT NULL
);
--> statement-breakpoint
CREATE TABLE `erasures` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	`erased_at` TIMESTAMP NOT NULL,
	`erased_by` text NOT NULL,
	`suppressed` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `erasures_by_kind_suppressed` ON `erasures` (`kind`,`suppressed`);--> statement-breakpoint
CREATE TABLE `fields` (
	`kind` text NOT NULL,
	`field` text NOT NULL,
	`documented` integer NOT NULL,
	`type` text NOT NULL,
	`fits_hint` integer NOT NULL,
	`wire` text NOT NULL,
	`column_type` text,
	`column_scale` BIGINT,
	`position` integer NOT NULL,
	`first_seen_at` TIMESTAMP NOT NULL,
	`vanished_at` TIMESTAMP,
	`text_column` text,
	`text_position` BIGINT,
	PRIMARY KEY(`kind`, `field`)
);
--> statement-breakpoint
CREATE TABLE `issues` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`record_id` text,
	`field` text,
	`code` text NOT NULL,
	`detail` text,
	`first_seen_at` TIMESTAMP NOT NULL,
	`closed_at` TIMESTAMP
);
--> statement-breakpoint
CREATE INDEX `issues_by_kind_closed_at_record_id` ON `issues` (`kind`,`closed_at`,`record_id`);--> statement-breakpoint
CREATE TABLE `kind_state` (
	`kind` text PRIMARY KEY NOT NULL,
	`tick` BIGINT NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`complete_sweeps` BIGINT NOT NULL,
	`decoded_as` text,
	`envelope` text,
	`page_size` BIGINT,
	`last_sweep_at` TIMESTAMP,
	`certified_at` TIMESTAMP,
	`last_change_at` TIMESTAMP,
	`owner` text,
	`epoch` BIGINT NOT NULL,
	`lease_until` TIMESTAMP,
	`baseline_at` TIMESTAMP,
	`control_failures` BIGINT DEFAULT 0 NOT NULL,
	`known_from` BIGINT DEFAULT 0 NOT NULL,
	`system_ids` text,
	`last_complete_sweep` BIGINT,
	`uncertified_sweeps` BIGINT DEFAULT 0 NOT NULL,
	`held_since` TIMESTAMP,
	`held_records` BIGINT,
	`lease_yields` BIGINT
);
--> statement-breakpoint
CREATE TABLE `links` (
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	`outbox_id` BIGINT NOT NULL,
	`linked_at` TIMESTAMP NOT NULL,
	PRIMARY KEY(`kind`, `record_id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `links_outbox_id` ON `links` (`outbox_id`);--> statement-breakpoint
CREATE TABLE `mirror_meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`idempotency_key` text NOT NULL,
	`kind` text NOT NULL,
	`operation` text NOT NULL,
	`record_id` text,
	`payload` text NOT NULL,
	`base` text,
	`base_at` TIMESTAMP,
	`state` text DEFAULT 'ready' NOT NULL,
	`epoch` BIGINT DEFAULT 0 NOT NULL,
	`owner` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` TIMESTAMP,
	`natural_key` text,
	`preimage` text,
	`verdict` text,
	`result` text,
	`created_at` TIMESTAMP DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
	`updated_at` TIMESTAMP DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
	`allow_unknown` integer DEFAULT 0 NOT NULL,
	`allow_double` integer DEFAULT 0 NOT NULL,
	`elapsed_ms` BIGINT DEFAULT 0 NOT NULL,
	`elapsed_at` TIMESTAMP
);
--> statement-breakpoint
CREATE INDEX `outbox_by_state_next_attempt_at` ON `outbox` (`state`,`next_attempt_at`);--> statement-breakpoint
CREATE INDEX `outbox_by_kind_natural_key_state` ON `outbox` (`kind`,`natural_key`,`state`);--> statement-breakpoint
CREATE INDEX `outbox_by_kind_record_id_state` ON `outbox` (`kind`,`record_id`,`state`);--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_idempotency_key` ON `outbox` (`idempotency_key`);--> statement-breakpoint
CREATE TABLE `outbox_attempts` (
	`outbox_id` BIGINT NOT NULL,
	`n` integer NOT NULL,
	`opened_at` TIMESTAMP NOT NULL,
	`closed_at` TIMESTAMP,
	`grade` text,
	`status` BIGINT,
	`request` text NOT NULL,
	`response_start` text,
	PRIMARY KEY(`outbox_id`, `n`)
);
--> statement-breakpoint
CREATE TABLE `outbox_keys` (
	`idempotency_key` text PRIMARY KEY NOT NULL,
	`outbox_id` BIGINT NOT NULL,
	`kind` text NOT NULL,
	`operation` text NOT NULL,
	`record_id` text,
	`state` text NOT NULL,
	`request_hash` text NOT NULL,
	`base_hash` text,
	`ended_at` TIMESTAMP NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outbox_keys_by_kind_record_id` ON `outbox_keys` (`kind`,`record_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_keys_outbox_id` ON `outbox_keys` (`outbox_id`);--> statement-breakpoint
CREATE TABLE `pages` (
	`kind` text NOT NULL,
	`page` integer NOT NULL,
	`digest` text NOT NULL,
	`bytes` BIGINT NOT NULL,
	`ids` text NOT NULL,
	`fields` text NOT NULL,
	`sent` BIGINT NOT NULL,
	`response` BIGINT NOT NULL,
	PRIMARY KEY(`kind`, `page`)
);
--> statement-breakpoint
CREATE TABLE `relations` (
	`view` text NOT NULL,
	`column` text NOT NULL,
	`to_view` text NOT NULL,
	`to_column` text NOT NULL,
	`none` text,
	PRIMARY KEY(`view`, `column`)
);
--> statement-breakpoint
CREATE TABLE `request_budgets` (
	`name` text PRIMARY KEY NOT NULL,
	`thousandths` BIGINT NOT NULL,
	`filled_at` TIMESTAMP NOT NULL
);
--> statement-breakpoint
CREATE TABLE `run_kinds` (
	`run_id` BIGINT NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`detail` text,
	`certified_at` TIMESTAMP,
	`pages` integer NOT NULL,
	`rows` integer NOT NULL,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	`deleted` integer NOT NULL,
	`restored` integer NOT NULL,
	`unchanged` integer NOT NULL,
	`quarantined` integer NOT NULL,
	`requests` integer NOT NULL,
	`retries` integer NOT NULL,
	`started_at` TIMESTAMP NOT NULL,
	`duration_ms` integer NOT NULL,
	PRIMARY KEY(`run_id`, `kind`)
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`command` text NOT NULL,
	`kinds` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`owner` text,
	`requested_at` TIMESTAMP NOT NULL,
	`started_at` TIMESTAMP,
	`finished_at` TIMESTAMP,
	`request` text,
	`epoch` BIGINT,
	`next_attempt_at` TIMESTAMP,
	`slot` text,
	`lease_until` TIMESTAMP
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_slot` ON `runs` (`slot`);--> statement-breakpoint
CREATE TABLE `sightings` (
	`kind` text NOT NULL,
	`answered` BIGINT NOT NULL,
	`sent` BIGINT NOT NULL,
	`run_id` BIGINT NOT NULL,
	`page` integer NOT NULL,
	`ids` text NOT NULL,
	`rows` integer NOT NULL,
	`end_rows` BIGINT,
	`total` BIGINT,
	`seen_at` TIMESTAMP NOT NULL,
	`sweep` BIGINT,
	PRIMARY KEY(`kind`, `answered`)
);
--> statement-breakpoint
CREATE TABLE `touched` (
	`kind` text NOT NULL,
	`response` BIGINT NOT NULL,
	`record_id` text NOT NULL,
	PRIMARY KEY(`kind`, `response`, `record_id`)
);
--> statement-breakpoint
CREATE TABLE `unlisted_rows` (
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	PRIMARY KEY(`kind`, `record_id`)
);
--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`endpoint_id` BIGINT NOT NULL,
	`webhook_id` text NOT NULL,
	`type` text NOT NULL,
	`seq` BIGINT,
	`kind` text,
	`record_id` text,
	`body` text,
	`state` text DEFAULT 'ready' NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` TIMESTAMP,
	`attempted_at` TIMESTAMP,
	`status` BIGINT,
	`error` text,
	`response_start` text,
	`duration_ms` BIGINT,
	`created_at` TIMESTAMP DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
	`delivered_at` TIMESTAMP
);
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_endpoint_id_state_next_attempt_at` ON `webhook_deliveries` (`endpoint_id`,`state`,`next_attempt_at`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_endpoint_id_record_id_state` ON `webhook_deliveries` (`endpoint_id`,`record_id`,`state`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_endpoint_id_webhook_id` ON `webhook_deliveries` (`endpoint_id`,`webhook_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_endpoint_id_id` ON `webhook_deliveries` (`endpoint_id`,`id`);--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`public_id` text NOT NULL,
	`url` text NOT NULL,
	`kinds` text,
	`changes` text,
	`fields` text,
	`format` text DEFAULT 'json' NOT NULL,
	`cursor` BIGINT NOT NULL,
	`replay_after` BIGINT,
	`state` text DEFAULT 'active' NOT NULL,
	`disabled_reason` text,
	`failures` integer DEFAULT 0 NOT NULL,
	`failing_since` TIMESTAMP,
	`failing_told_at` TIMESTAMP,
	`delivered_at` TIMESTAMP,
	`not_before` TIMESTAMP,
	`owner` text,
	`epoch` BIGINT DEFAULT 0 NOT NULL,
	`created_at` TIMESTAMP DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
	`updated_at` TIMESTAMP DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_endpoints_name` ON `webhook_endpoints` (`name`);--> statement-breakpoint
CREATE TABLE `webhook_secrets` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`endpoint_id` BIGINT NOT NULL,
	`secret` text NOT NULL,
	`created_at` TIMESTAMP DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL,
	`expires_at` TIMESTAMP
);
--> statement-breakpoint
CREATE INDEX `webhook_secrets_by_endpoint_id` ON `webhook_secrets` (`endpoint_id`);--> statement-breakpoint
CREATE TABLE `workers` (
	`owner` text PRIMARY KEY NOT NULL,
	`roles` text NOT NULL,
	`started_at` TIMESTAMP NOT NULL,
	`seen_at` TIMESTAMP NOT NULL,
	`schedules` text
);
--> statement-breakpoint
CREATE TABLE `write_blocks` (
	`kind` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`since` TIMESTAMP NOT NULL,
	`probe_at` TIMESTAMP NOT NULL
);
