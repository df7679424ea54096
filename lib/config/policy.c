/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "stack", "bridge" of the switch, and "policy" of the scheduler: a policy by its name, or an object with its
 * name and its parameters, which the policy itself declares (mf_param.h).
 */
#include <string.h>

#include "config/cfg_write.h"
#include "systems/mf_systems.h"

/** Wide enough for every kind. */
union value {
	uint64_t whole;
	double real;
};

static const enum cfg_kind kinds[] = {
	[MF_PARAM_COUNT] = CFG_U64,     [MF_PARAM_SIZE] = CFG_SIZE64,    [MF_PARAM_TIME] = CFG_TIME,
	[MF_PARAM_REAL] = CFG_REAL,     [MF_PARAM_LINE_TIME] = CFG_TIME, [MF_PARAM_LINE_POWER] = CFG_U64,
	[MF_PARAM_LINE_RATE] = CFG_REAL};

/** The table of the object: its name, and the parameters; of values that lie one behind the other. */
static void make_fields(const struct mf_param *p, struct cfg_field *f)
{
	*f++ = (struct cfg_field){.key = "name", .kind = CFG_NESTED};
	for (size_t i = 0; p[i].key != NULL; i++)
		*f++ = (struct cfg_field){.key = p[i].key,
					  .kind = kinds[p[i].kind],
					  .offset = i * sizeof(union value),
					  .lo = mf_param_is_real(p[i].kind) ? 0 : (uint64_t)p[i].min,
					  .hi = mf_param_is_real(p[i].kind) ? 0 : (uint64_t)p[i].max,
					  .rlo = p[i].min,
					  .rhi = p[i].max};
	*f = (struct cfg_field){0};
}

static void to_values(const struct mf_param *p, const double *param, union value *v)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		if (mf_param_is_real(p[i].kind))
			v[i].real = param[i];
		else
			v[i].whole = (uint64_t)param[i];
}

static void from_values(const struct mf_param *p, const union value *v, double *param)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		param[i] = mf_param_is_real(p[i].kind) ? v[i].real : (double)v[i].whole;
}

static void defaults(const struct mf_param *p, double *param)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		param[i] = p[i].value;
}

/** What the stack has by the same name is the bridge's default: both speak of the same links. */
static void inherit(const struct mf_param *from, const double *value, const struct mf_param *p, double *param)
{
	for (size_t i = 0; p[i].key != NULL; i++)
		for (size_t k = 0; from[k].key != NULL; k++)
			if (strcmp(p[i].key, from[k].key) == 0 && value[k] >= p[i].min &&
			    value[k] <= p[i].max)
				param[i] = value[k];
}

/** The name: of the string, or in the object. @return 0 or -EINVAL */
static int read_name(struct cfg *c, const json_t *json, const char *const *names, const char **name)
{
	const json_t *in = json_is_object(json) ? json_object_get(json, "name") : json;
	uint32_t place = 0;
	int rc = 0;

	if (in != NULL && !json_is_string(in) && in == json)
		return cfg_fail(c, "must be a name, or an object");
	if (in != NULL && in != json)
		cfg_push(c, "name");
	if (in != NULL)
		rc = cfg_enum(c, in, names, &place);
	if (in != NULL && in != json)
		cfg_pop(c);
	if (rc == 0 && in != NULL)
		*name = names[place];
	return rc;
}

/** @param param  the defaults, and then what is set */
static int read_params(struct cfg *c, const json_t *json, const struct mf_param *params, double *param)
{
	struct cfg_field fields[MF_PARAMS_MAX + 2];
	union value v[MF_PARAMS_MAX];
	int rc;

	if (!json_is_object(json))
		return 0;
	make_fields(params, fields);
	to_values(params, param, v);
	rc = cfg_object(c, json, fields, v);
	from_values(params, v, param);
	return rc;
}

/** What of a table has other defaults. @param with  NULL: nothing */
static void override(const struct mf_param *p, const struct mf_param_default *with, double *param)
{
	for (; with != NULL && with->key != NULL; with++)
		for (size_t i = 0; p[i].key != NULL; i++)
			if (strcmp(p[i].key, with->key) == 0)
				param[i] = with->value;
}

static const struct mf_param no_params[] = {{0}};

int cfg_stack(struct cfg *c, const json_t *json)
{
	struct mf_config_policy *p = &c->tier->stack;
	const struct mf_param *params;
	const char *name = MF_STACK_EDM;
	int rc = json != NULL ? read_name(c, json, mf_stack_names, &name) : 0;

	if (rc != 0)
		return rc;
	strcpy(p->name, name);
	c->tier->stack_ops = mf_stack_find(name);
	params = c->tier->stack_ops != NULL ? c->tier->stack_ops->params : no_params;
	defaults(params, p->param);
	return read_params(c, json, params, p->param);
}

int cfg_bridge(struct cfg *c, const json_t *json)
{
	const struct mf_stack_ops *stack = c->tier->stack_ops;
	struct mf_config_policy *p = &c->tier->bridge;
	const struct mf_param *params;
	const char *name;
	int rc;

	if (stack == NULL)
		return json == NULL ? 0 : cfg_fail(c, "has no effect: stack is \"" MF_STACK_EDM "\"");
	name = stack->bridge;
	rc = json != NULL ? read_name(c, json, mf_bridge_names, &name) : 0;
	if (rc != 0)
		return rc;
	strcpy(p->name, name);
	c->tier->bridge_ops = mf_bridge_find(name);
	if (c->tier->bridge_ops->messages != stack->messages)
		return cfg_fail(c, "'%s' does not forward what stack \"%s\" sends", name, stack->name);
	params = c->tier->bridge_ops->params;
	defaults(params, p->param);
	if (strcmp(name, stack->bridge) == 0)
		override(params, stack->bridge_defaults, p->param);
	inherit(stack->params, c->tier->stack.param, params, p->param);
	return read_params(c, json, params, p->param);
}

int cfg_policy(struct cfg *c, const json_t *json)
{
	struct mf_config_sched *s = &c->tier->sched;
	const struct mf_param *params;
	const char *name = s->policy;
	int rc = read_name(c, json, mf_policy_names, &name);

	if (rc != 0)
		return rc;
	if (name != s->policy)
		strcpy(s->policy, name);
	params = mf_policy_find(name)->params != NULL ? mf_policy_find(name)->params : no_params;
	defaults(params, s->param);
	return read_params(c, json, params, s->param);
}

static json_t *put_policy(struct put *p, const char *name, const double *param, const struct mf_param *params)
{
	struct cfg_field fields[MF_PARAMS_MAX + 2];
	union value v[MF_PARAMS_MAX];
	json_t *json = json_object();

	make_fields(params, fields);
	to_values(params, param, v);
	cfg_put_set(p, json, "name", json_string(name));
	cfg_put_fields(p, json, fields, v);
	return json;
}

void cfg_put_stack(struct put *p, json_t *root)
{
	const struct mf_config_tier *t = p->tier;

	cfg_put_set(p, root, "stack",
		    put_policy(p, t->stack.name, t->stack.param,
			       t->stack_ops != NULL ? t->stack_ops->params : no_params));
}

void cfg_put_bridge(struct put *p, json_t *json)
{
	const struct mf_config_tier *t = p->tier;

	if (t->bridge_ops != NULL)
		cfg_put_set(p, json, "bridge",
			    put_policy(p, t->bridge.name, t->bridge.param, t->bridge_ops->params));
}

void cfg_put_policy(struct put *p, json_t *json)
{
	const struct mf_config_sched *s = &p->tier->sched;
	const struct mf_param *params = mf_policy_find(s->policy)->params;

	cfg_put_set(p, json, "policy",
		    params != NULL ? put_policy(p, s->policy, s->param, params) : json_string(s->policy));
}
