"""What a tick does to the body: hands, legs, and what keeps it alive. Records and units are state.py's.

What is rare (a block broke, a meal is eaten) only raises a flag here; the host acts on it after the tick.
"""

from math import ceil, cos, radians, sin, sqrt
from typing import Any

from rollouts.worlds.techtree.compiled import compiled
from rollouts.worlds.techtree.space import Blocks, Traits, look, look_at_mob, slide, traits_at
from rollouts.worlds.techtree.state import ATE, BLOCKED, BROKE, DIED, HIT, HURT, LAVA, STUCK, TARGET, WATER


@compiled
def hurt(rules: Any, body: Any, amount: float) -> int:
    if amount <= 0.0 or body.alive == 0:
        return 0
    body.health = max(0.0, body.health - amount)
    body.hurt_wait = rules.hurt_wait
    body.exhaustion += rules.exhaust_hurt
    if body.health <= 0.0:
        body.alive = 0
        return HURT | DIED
    return HURT


@compiled
def use_hands(
    blocks: Blocks,
    traits: Traits,
    speed: Any,
    rules: Any,
    body: Any,
    controls: Any,
    mobs: Any,
    creatures: Any,
) -> int:
    """Striking, breaking and eating."""
    flags = 0
    if controls.attack:
        i, j, k, _, _, _, gone = look(blocks, traits, body, rules.eye, rules.reach, TARGET)
        m, far = look_at_mob(mobs, creatures, body, rules.eye, rules.strike)
        if m >= 0 and (gone < 0.0 or far <= gone):
            body.mine_done, body.mine_x = 0.0, -1
            if body.attack_wait == 0 and mobs[m].hurt == 0:
                mobs[m].health -= controls.damage
                mobs[m].hurt = rules.hurt_wait
                mobs[m].mode, mobs[m].left = 2, creatures[mobs[m].kind].flee_ticks
                mobs[m].yaw = body.yaw
                body.attack_wait = controls.recharge
                body.exhaustion += rules.exhaust_attack
                body.hit = m
                flags |= HIT
        elif gone >= 0.0:
            if i != body.mine_x or j != body.mine_y or k != body.mine_z:
                body.mine_x, body.mine_y, body.mine_z, body.mine_done = i, j, k, 0.0
            if body.mine_wait == 0:
                rate = speed[blocks[i, j, k]]
                if traits_at(blocks, traits, body.x, body.y + rules.eye, body.z) & WATER:
                    rate /= rules.slow_mining
                if body.grounded == 0:
                    rate /= rules.slow_mining
                body.mine_done += rate
                if body.mine_done >= 1.0:
                    body.mine_done = 0.0
                    body.mine_wait = 0 if rate >= 1.0 else rules.mine_wait
                    flags |= BROKE
        else:
            body.mine_done, body.mine_x = 0.0, -1
    else:
        body.mine_done, body.mine_x = 0.0, -1
    if controls.eat:
        body.eating += 1
        if body.eating >= rules.eat_ticks:
            body.eating = 0
            flags |= ATE
    else:
        body.eating = 0
    return flags


@compiled
def move(blocks: Blocks, traits: Traits, rules: Any, body: Any, controls: Any) -> int:
    """One tick of walking, jumping, swimming and falling: the game's velocities and drags."""
    ahead, aside = float(controls.forward), float(controls.strafe)
    pressed = ahead != 0.0 or aside != 0.0
    sprint = controls.sprint and ahead > 0.0 and body.food > 6.0 and not controls.sneak
    pace = rules.sneak if controls.sneak else 1.0
    here = traits_at(blocks, traits, body.x, body.y + 0.4, body.z)
    water, lava = here & WATER != 0, here & LAVA != 0
    yaw = radians(body.yaw)
    push, drag = rules.air_walk, rules.air_drag
    if water or lava:
        push, drag = rules.swim, rules.water_drag if water else rules.lava_drag
        if controls.jump:
            body.vy += rules.swim_up
    else:
        if body.grounded:
            push, drag = rules.walk, rules.ground_drag
            if sprint:
                push = rules.sprint
            if controls.jump and body.jump_wait == 0:
                body.vy, body.jump_wait = rules.jump, rules.jump_wait
                body.exhaustion += rules.exhaust_sprint_jump if sprint else rules.exhaust_jump
                if sprint:
                    body.vx -= sin(yaw) * rules.sprint_boost
                    body.vz += cos(yaw) * rules.sprint_boost
        elif sprint:
            push = rules.air_sprint
    if not controls.jump:
        body.jump_wait = 0
    length = max(1.0, sqrt(ahead * ahead + aside * aside))
    ahead, aside = ahead / length * pace * push, aside / length * pace * push
    # Strafing right is towards -x when one looks to +z.
    body.vx += -sin(yaw) * ahead - cos(yaw) * aside
    body.vz += cos(yaw) * ahead - sin(yaw) * aside
    half, tall = rules.half, rules.height
    dy = slide(blocks, traits, body.x, body.y, body.z, half, tall, 1, body.vy)
    body.y += dy
    dx = slide(blocks, traits, body.x, body.y, body.z, half, tall, 0, body.vx)
    body.x += dx
    dz = slide(blocks, traits, body.x, body.y, body.z, half, tall, 2, body.vz)
    body.z += dz
    bumped = dx != body.vx or dz != body.vz
    body.grounded = 1 if body.vy < 0.0 and dy != body.vy else 0
    flags = 0
    if water or lava:
        body.fall = 0.0
    elif dy < 0.0:
        body.fall -= dy
    if body.grounded:
        if body.fall > rules.safe_fall:
            flags |= hurt(rules, body, ceil(body.fall - rules.safe_fall))
        body.fall = 0.0
    if dx != body.vx:
        body.vx = 0.0
    if dz != body.vz:
        body.vz = 0.0
    if dy != body.vy:
        body.vy = 0.0
    if water or lava:
        body.vx, body.vz = body.vx * drag, body.vz * drag
        body.vy = body.vy * drag - rules.water_sink
        if bumped and pressed:
            # A swimmer at a bank climbs out, as in the game.
            body.vy = max(body.vy, rules.climb_out)
    else:
        body.vy = (body.vy - rules.gravity) * 0.98
        body.vx, body.vz = body.vx * drag, body.vz * drag
    gone = sqrt(dx * dx + dz * dz)
    if water:
        body.exhaustion += rules.exhaust_swim * gone
    elif body.grounded and sprint:
        body.exhaustion += rules.exhaust_sprint * gone
    was_blocked = body.blocked
    body.blocked = 1 if pressed and bumped and gone < rules.blocked_speed else 0
    if body.blocked and not was_blocked:
        flags |= BLOCKED
    if pressed:
        away = max(abs(body.x - body.stuck_x), abs(body.z - body.stuck_z))
        if away > rules.stuck_radius or abs(body.y - body.stuck_y) > 2.0:
            body.stuck, body.stuck_x, body.stuck_y, body.stuck_z = 0, body.x, body.y, body.z
        else:
            body.stuck += 1
            if body.stuck == rules.stuck_ticks:
                flags |= STUCK
    return flags


@compiled
def keep_alive(blocks: Blocks, traits: Traits, rules: Any, body: Any) -> int:
    """Lava, fire, hunger, healing and starving."""
    flags = 0
    here = traits_at(blocks, traits, body.x, body.y + 0.4, body.z)
    here |= traits_at(blocks, traits, body.x, body.y, body.z)
    if here & LAVA:
        body.fire = rules.fire_ticks
        if body.hurt_wait == 0:
            flags |= hurt(rules, body, rules.lava_damage)
    elif here & WATER:
        body.fire = 0
    elif body.fire > 0:
        body.fire -= 1
        if body.fire % 20 == 0:
            flags |= hurt(rules, body, rules.fire_damage)
    if body.exhaustion >= rules.exhaust_step:
        body.exhaustion -= rules.exhaust_step
        if body.saturation > 0.0:
            body.saturation = max(0.0, body.saturation - 1.0)
        else:
            body.food = max(0.0, body.food - 1.0)
    hurt_now = body.health < 20.0
    if body.food >= 20.0 and body.saturation > 0.0 and hurt_now:
        body.heal_wait += 1
        if body.heal_wait >= rules.heal_fast:
            spent = min(body.saturation, 6.0)
            body.health = min(20.0, body.health + spent / 6.0)
            body.exhaustion += spent
            body.heal_wait = 0
    elif body.food >= 18.0 and hurt_now:
        body.heal_wait += 1
        if body.heal_wait >= rules.heal_slow:
            body.health = min(20.0, body.health + 1.0)
            body.exhaustion += rules.exhaust_heal
            body.heal_wait = 0
    elif body.food <= 0.0:
        body.heal_wait += 1
        if body.heal_wait >= rules.heal_slow:
            body.heal_wait = 0
            if body.health > rules.starving_floor:
                flags |= hurt(rules, body, 1.0)
    else:
        body.heal_wait = 0
    return flags
