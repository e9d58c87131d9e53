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
CREATE INDEX `webhook_secrets_by_endpoint_id` ON `webhook_secrets` (`endpoint_id`);