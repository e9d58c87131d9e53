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
	PRIMARY KEY(`kind`, `record_id`)
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
	`updated_at` TIMESTAMP DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outbox_by_kind_state` ON `outbox` (`kind`,`state`);--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_idempotency_key` ON `outbox` (`idempotency_key`);--> statement-breakpoint
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
CREATE TABLE `touched` (
	`kind` text NOT NULL,
	`response` BIGINT NOT NULL,
	`record_id` text NOT NULL,
	PRIMARY KEY(`kind`, `response`, `record_id`)
);
--> statement-breakpoint
ALTER TABLE `kind_state` ADD `baseline_at` TIMESTAMP;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `control_failures` BIGINT;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `known_from` BIGINT;--> statement-breakpoint
ALTER TABLE `runs` ADD `request` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `cursor` text;--> statement-breakpoint
ALTER TABLE `sightings` ADD `sweep` BIGINT;