CREATE TABLE `links` (
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	`outbox_id` BIGINT NOT NULL,
	`linked_at` TIMESTAMP NOT NULL,
	PRIMARY KEY(`kind`, `record_id`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `links_outbox_id` ON `links` (`outbox_id`);--> statement-breakpoint
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
CREATE TABLE `workers` (
	`owner` text PRIMARY KEY NOT NULL,
	`roles` text NOT NULL,
	`started_at` TIMESTAMP NOT NULL,
	`seen_at` TIMESTAMP NOT NULL
);
--> statement-breakpoint
CREATE TABLE `write_blocks` (
	`kind` text PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`since` TIMESTAMP NOT NULL,
	`probe_at` TIMESTAMP NOT NULL
);
--> statement-breakpoint
DROP INDEX `outbox_by_kind_state`;--> statement-breakpoint
ALTER TABLE `outbox` ADD `base_at` TIMESTAMP;--> statement-breakpoint
CREATE INDEX `outbox_by_state_next_attempt_at` ON `outbox` (`state`,`next_attempt_at`);--> statement-breakpoint
CREATE INDEX `outbox_by_kind_natural_key_state` ON `outbox` (`kind`,`natural_key`,`state`);--> statement-breakpoint
CREATE INDEX `outbox_by_kind_record_id_state` ON `outbox` (`kind`,`record_id`,`state`);--> statement-breakpoint
ALTER TABLE `pages` ADD `records` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `epoch` BIGINT;--> statement-breakpoint
ALTER TABLE `runs` ADD `next_attempt_at` TIMESTAMP;--> statement-breakpoint
ALTER TABLE `runs` ADD `slot` text;--> statement-breakpoint
CREATE UNIQUE INDEX `runs_slot` ON `runs` (`slot`);