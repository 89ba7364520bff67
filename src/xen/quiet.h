/* SPDX-License-Identifier: ISC */
/* A logger that logs nothing: without one, Xen's libraries write to standard error. */
#pragma once

#include <xentoollog.h>

static void log_nothing(struct xentoollog_logger *logger, xentoollog_level level, int error,
                        const char *context, const char *format, va_list arguments)
{
    (void)logger, (void)level, (void)error, (void)context, (void)format, (void)arguments;
}

static void destroy_nothing(struct xentoollog_logger *logger)
{
    (void)logger;
}

static struct xentoollog_logger quiet = {.vmessage = log_nothing, .destroy = destroy_nothing};
